package dev.bourse.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The text of a script that was joined from modules. */
@Tag("fast")
class JoinedScriptTest {
  private static final Map<String, String> MODULES =
      Map.of(
          "parts.js", "export class Element {}\n",
          "router.js",
              """
              import { Element as Part } from './parts.js';
              export const isPart = (it) => it instanceof Part && !(it instanceof Element);
              """);

  /** A binding of the script's own scope would be the Element of router.js. */
  @Test
  void anExportedNameHidesNoneOfTheBrowsersFromOtherModules() {
    String script =
        JoinedScript.of(
            List.of("parts.js", "router.js"),
            name -> Objects.requireNonNull(MODULES.get(name)),
            (importing, imported) -> imported.substring(2),
            name -> name);
    assertEquals(
        """
        // parts.js
        const module0 = (() => {
        class Element {}
        return {Element: Element};
        })();
        const module0_Element = module0.Element;
        export {module0_Element as Element};
        // router.js
        const module1 = (() => {
        const Part = module0.Element;
        const isPart = (it) => it instanceof Part && !(it instanceof Element);
        return {isPart: isPart};
        })();
        const module1_isPart = module1.isPart;
        export {module1_isPart as isPart};
        """,
        script);
  }
}
