package dev.bourse.build;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.io.Writer;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The build step that generates records, run on contracts that the product does not have. */
@Tag("fast")
class SchemaTypesTest {
  private static final Path GENERATOR = Path.of("src/build/java/dev/bourse/build/SchemaTypes.java");

  private static URLClassLoader compiled;

  @BeforeAll
  static void compileTheGenerator(@TempDir Path classes) throws IOException {
    assertEquals("", compile(classes, List.of(GENERATOR)));
    compiled = new URLClassLoader(new URL[] {url(classes)}, SchemaTypesTest.class.getClassLoader());
  }

  @AfterAll
  static void close() throws IOException {
    compiled.close();
  }

  private static URL url(Path folder) throws MalformedURLException {
    return folder.toUri().toURL();
  }

  /** Compiles sources and returns the errors. */
  private static String compile(Path classes, List<Path> sources) throws IOException {
    JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
    Writer errors = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      boolean isCompiled =
          compiler
              .getTask(
                  errors,
                  files,
                  null,
                  List.of("-proc:none", "-nowarn", "-Xlint:-options", "-d", classes.toString()),
                  null,
                  files.getJavaFileObjectsFromPaths(sources))
              .call();
      return isCompiled ? "" : errors.toString();
    }
  }

  /** Generates the records of a contract and returns their folder. */
  private static Path generate(Path folder, String contract)
      throws IOException, ReflectiveOperationException {
    Files.writeString(
        folder.resolve("common.yaml"),
        "components: { schemas: { ApiError: { type: object, properties: {} } } }");
    Files.writeString(folder.resolve("vm.yaml"), contract);
    Path records = folder.resolve("records");
    try {
      compiled
          .loadClass("dev.bourse.build.SchemaTypes")
          .getMethod("main", String[].class)
          .invoke(null, (Object) new String[] {folder.toString(), records.toString()});
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IllegalStateException rejected) {
        throw rejected;
      }
      throw e;
    }
    return records.resolve("dev/bourse/schemas/vm");
  }

  private static String compileAll(Path folder, Path records) throws IOException {
    try (Stream<Path> files = Files.list(records)) {
      return compile(
          Files.createDirectories(folder.resolve("classes")), new ArrayList<>(files.toList()));
    }
  }

  @Test
  void textOfAContractCannotBreakTheSource(@TempDir Path folder) throws Exception {
    Path records =
        generate(
            folder,
            """
            paths: {}
            components:
              schemas:
                Path:
                  type: object
                  description: 'C:\\users\\u002a/ <b> & @since */ x; `a < b && c`, `C:\\users`, `*/`, `{}`'
                  required: [path]
                  properties:
                    path: { type: string, description: 'ends in \\' }
            """);
    assertEquals("", compileAll(folder, records));
    String source = Files.readString(records.resolve("PathJson.java"));
    assertTrue(
        source.contains(
            " * C:&#92;users&#92;u002a/ &lt;b&gt; &amp; &#64;since *&#47; x; {@code a < b && c},"
                + " <code>C:&#92;users</code>, <code>*&#47;</code>, `{}`\n"),
        source);
  }
}
