package dev.bourse.build;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
          .invoke(null, (Object) new String[] {folder.toString(), records.toString(), "vm"});
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

  /** What the writer of answers and the reader of requests have no form for. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "type: array, items: { type: string, format: date-time }",
        "type: array, items: { type: array, items: { type: string } }",
        "type: array, items: { $ref: '#/components/schemas/Words' }",
        "type: array, items: { $ref: 'common.yaml#/components/schemas/ApiError' }",
        "type: array, items: { oneOf: [{ type: 'null' }, { $ref: '#/components/schemas/Item' }] }",
        "type: [array, 'null'], items: { type: string }",
        "type: [array, 'null'], items: { $ref: '#/components/schemas/Item' }",
        "oneOf: [{ type: 'null' }, { type: array, items: { type: string } }]",
        "$ref: '#/components/schemas/Sent'",
        "type: object",
        "type: object, additionalProperties: true",
        "type: object, additionalProperties: { type: string, format: date-time }",
        "type: object, additionalProperties: { $ref: '#/components/schemas/Item' }",
        "type: object, additionalProperties: { type: array, items: { type: string } }",
        "type: object, additionalProperties: { $ref: '#/components/schemas/Words' }",
      })
  void aShapeThatIsNotSupportedIsRejected(String shape, @TempDir Path folder) {
    assertEquals(
        "property sample of Answer: records do not support",
        rejected(folder, answer(shape)).split(" (a|an) ", 2)[0]);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "type: array, items: { type: [string, 'null'] }",
        "type: array, items: { $ref: '#/components/schemas/Words' }",
      })
  void aShapeThatIsNotSupportedInARequestIsRejected(String shape, @TempDir Path folder) {
    assertEquals(
        "property sample of Answer: records do not support",
        rejected(folder, answer(shape).replace("schemas/Sent", "schemas/Answer"))
            .split(" (a|an) ", 2)[0]);
  }

  private static String rejected(Path folder, String contract) {
    return String.valueOf(
        assertThrows(IllegalStateException.class, () -> generate(folder, contract)).getMessage());
  }

  @Test
  void theValuesOfAMapKeepTheirNulls(@TempDir Path folder) throws Exception {
    Path records =
        generate(folder, answer("type: object, additionalProperties: { type: [integer, 'null'] }"));
    assertEquals("", compileAll(folder, records));
    assertTrue(
        Files.readString(records.resolve("AnswerJson.java"))
            .contains("Map<String, @Nullable Integer> sample"));
  }

  @Test
  void aRequestIsReadWithItsPartsChoicesAndDefaults(@TempDir Path folder) throws Exception {
    Path records =
        generate(
            folder,
            """
            paths:
              /x:
                post:
                  requestBody: { $ref: '#/components/schemas/Sent' }
                  responses: { "200": { $ref: '#/components/schemas/Both' } }
            components:
              schemas:
                Sent:
                  type: object
                  required: [files]
                  properties:
                    files: { type: array, items: { $ref: '#/components/schemas/Part' } }
                    part: { $ref: '#/components/schemas/Part' }
                    choice: { oneOf: [{ type: boolean }, { type: string }], default: true }
                    both: { $ref: '#/components/schemas/Both' }
                    terms:
                      type: [object, 'null']
                      required: [env, note]
                      properties:
                        env: { type: object, additionalProperties: { type: [string, 'null'] } }
                        note: { type: [string, 'null'] }
                Part: { type: object, required: [path], properties: { path: { type: string } } }
                Both: { type: object, required: [on], properties: { on: { type: boolean } } }
            """);
    assertEquals("", compileAll(folder, records));
    String source = Files.readString(records.resolve("SentJson.java"));
    assertTrue(
        source.contains(
            """
                    in.objects("files", PartJson::read),
                    in.optional("part", name -> in.object(name, PartJson::read)),
                    in.value("choice"),
                    in.optional("both", name -> in.object(name, BothJson::read)),
                    in.setting("terms", name -> in.object(name, SentTermsJson::read)));
            """),
        source);
    assertTrue(
        Files.readString(records.resolve("SentTermsJson.java"))
            .contains(
                """
                        in.textMap("env"),
                        in.optional("note", in::text));
                """));
    assertTrue(Files.readString(records.resolve("BothJson.java")).contains("void write("));
  }

  @Test
  void aNumberOfARequestCannotBeInAnAnswer(@TempDir Path folder) {
    assertEquals(
        "property sample of Sent: records do not support a number or a time in a schema of requests"
            + " and answers",
        rejected(
            folder,
            """
            paths:
              /x:
                post:
                  requestBody: { $ref: '#/components/schemas/Sent' }
                  responses: { "200": { $ref: '#/components/schemas/Sent' } }
            components:
              schemas:
                Sent: { type: object, required: [sample], properties: { sample: { type: number } } }
            """));
  }

  private static String answer(String shape) {
    return """
    paths: { /x: { post: { requestBody: { $ref: '#/components/schemas/Sent' } } } }
    components:
      schemas:
        Sent: { type: object, properties: {} }
        Item: { type: object, properties: {} }
        Words: { type: object, additionalProperties: { type: string } }
        Answer: { type: object, required: [sample], properties: { sample: { %s } } }
    """
        .formatted(shape);
  }
}
