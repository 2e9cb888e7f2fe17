package dev.bourse.schemas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.contract.Contract;
import dev.bourse.core.ApiException;
import dev.bourse.json.JsonRecord;
import dev.bourse.json.Setting;
import dev.bourse.json.StrictJson;
import dev.bourse.schemas.common.AlertThresholdsJson;
import dev.bourse.schemas.common.BillingHoldJson;
import dev.bourse.schemas.common.HistoryJson;
import dev.bourse.schemas.vm.CapacityDeclarationJson;
import dev.bourse.schemas.vm.EnvironmentJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The records that the build generates from the contracts. */
@Tag("fast")
class SchemaRecordsTest {
  private static final Path GENERATED =
      Path.of("target", "generated-sources", "schemas", "dev", "bourse", "schemas");

  /** Contracts of which only some schemas are records. */
  private static final Set<String> PARTS = Set.of("console", "operator");

  private static final int REQUESTS = 2_000;

  @TestFactory
  Stream<DynamicTest> eachSchemaHasARecordWithItsMembersInOrder() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    try (Stream<Path> folders = Files.list(GENERATED)) {
      for (Path folder : folders.sorted().toList()) {
        String contract = String.valueOf(folder.getFileName());
        if (!contract.equals("common")) {
          schemas(contract)
              .forEach(
                  schema -> {
                    JsonObject object = (JsonObject) schema.getValue();
                    if (object.containsKey("properties")
                        && !schema.getKey().equals("ApiError")
                        && (!PARTS.contains(contract) || isRecord(contract, schema.getKey()))) {
                      tests.add(
                          DynamicTest.dynamicTest(
                              contract + '.' + schema.getKey(),
                              () -> assertFollows(contract, schema.getKey(), object)));
                    }
                  });
        }
      }
    }
    assertFalse(tests.isEmpty());
    return tests.stream();
  }

  private static JsonObject schemas(String contract) {
    return Contract.load(contract).document().getJsonObject("components").getJsonObject("schemas");
  }

  /** A schema of the common file is a component of each contract that uses it. */
  private static void assertFollows(String contract, String name, JsonObject schema)
      throws ReflectiveOperationException {
    String home = isRecord(contract, name) ? contract : "common";
    Class<?> type = Class.forName("dev.bourse.schemas." + home + '.' + name + "Json");
    JsonObject properties = schema.getJsonObject("properties");
    assertEquals(
        properties.fieldNames().stream()
            .map(
                property ->
                    component(
                        property, resolved(contract, properties.getJsonObject(property)), type))
            .toList(),
        Arrays.stream(type.getRecordComponents()).map(RecordComponent::getName).toList());
  }

  /** Returns a property's schema in place of a reference to another schema's property. */
  private static JsonObject resolved(String contract, JsonObject schema) {
    String reference = schema.getString("$ref", "");
    if (!reference.contains("/properties/")) {
      return schema;
    }
    JsonObject part = Contract.load(contract).document();
    for (String step : reference.substring("#/".length()).split("/", -1)) {
      part = part.getJsonObject(step);
    }
    return part;
  }

  /** Returns the name of a property's component: a time of an answer has its unit. */
  private static String component(String property, JsonObject schema, Class<?> type) {
    if (property.equals("final")) {
      return "isFinal";
    }
    Matcher words = Pattern.compile("_(.)").matcher(property);
    String name = words.replaceAll(word -> word.group(1).toUpperCase(Locale.ROOT));
    JsonArray choice = schema.getJsonArray("oneOf");
    JsonObject value = choice == null ? schema : choice.getJsonObject(0);
    boolean isTime =
        "date-time".equals(value.getString("format")) && JsonRecord.class.isAssignableFrom(type);
    return isTime ? name + "Millis" : name;
  }

  private static boolean isRecord(String home, String name) {
    return Files.exists(GENERATED.resolve(home).resolve(name + "Json.java"));
  }

  private static String member(RecordComponent component) {
    return component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }

  @TestFactory
  Stream<DynamicTest> aRequestIsReadAsItWasSent() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    try (Stream<Path> files = Files.walk(GENERATED)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        String source = Files.readString(file);
        if (source.contains(" read(JsonObject body)")) {
          String name = GENERATED.relativize(file).toString().replace('/', '.');
          tests.add(
              DynamicTest.dynamicTest(
                  name, () -> assertReadUnchanged(name.replaceFirst("\\.java$", ""))));
        }
      }
    }
    assertFalse(tests.isEmpty());
    return tests.stream();
  }

  private static void assertReadUnchanged(String name) throws ReflectiveOperationException {
    Class<?> type = Class.forName("dev.bourse.schemas." + name);
    Random random = new Random(11);
    for (int i = 0; i < REQUESTS; i++) {
      Object sent = request(type, random);
      JsonObject parsed = (JsonObject) Objects.requireNonNull(StrictJson.parse(bytes(json(sent))));
      assertEquals(
          sent, type.getMethod("read", JsonObject.class).invoke(null, parsed), "request " + i);
    }
  }

  private static Object request(Class<?> type, Random random) throws ReflectiveOperationException {
    RecordComponent[] members = type.getRecordComponents();
    List<@Nullable Object> values = new ArrayList<>();
    for (RecordComponent member : members) {
      values.add(sample(member, random));
    }
    return type.getDeclaredConstructor(
            Arrays.stream(members).map(RecordComponent::getType).toArray(Class<?>[]::new))
        .newInstance(values.toArray());
  }

  private static JsonObject json(Object request) throws ReflectiveOperationException {
    JsonObject body = new JsonObject();
    for (RecordComponent member : request.getClass().getRecordComponents()) {
      send(body, member(member), member.getAccessor().invoke(request));
    }
    return body;
  }

  private static void send(JsonObject body, String name, @Nullable Object value)
      throws ReflectiveOperationException {
    if (value instanceof Setting.To<?> to) {
      body.put(name, inJson(to.value()));
    } else if (value instanceof Setting.Cleared<?>) {
      body.putNull(name);
    } else if (value != null && !(value instanceof Setting.Kept<?>)) {
      body.put(name, inJson(value));
    }
  }

  private static Object inJson(Object value) throws ReflectiveOperationException {
    if (value instanceof List<?> list) {
      JsonArray array = new JsonArray();
      for (Object item : list) {
        array.add(inJson(item));
      }
      return array;
    }
    return value.getClass().isRecord() ? json(value) : value;
  }

  private static byte[] bytes(JsonObject body) {
    return body.toBuffer().getBytes();
  }

  private static @Nullable Object sample(RecordComponent member, Random random)
      throws ReflectiveOperationException {
    Type type = member.getGenericType();
    if (member.getType() == Setting.class) {
      Type of = ((ParameterizedType) type).getActualTypeArguments()[0];
      return switch (random.nextInt(3)) {
        case 0 -> new Setting.Kept<>();
        case 1 -> new Setting.Cleared<>();
        default -> new Setting.To<>(value(of, random));
      };
    }
    boolean isOptional = member.getAnnotatedType().isAnnotationPresent(Nullable.class);
    return isOptional && random.nextBoolean() ? null : value(type, random);
  }

  private static Object value(Type type, Random random) throws ReflectiveOperationException {
    if (type == int.class || type == Integer.class) {
      return random.nextInt();
    }
    if (type == long.class || type == Long.class) {
      return random.nextLong();
    }
    if (type == boolean.class || type == Boolean.class) {
      return random.nextBoolean();
    }
    if (type == BigDecimal.class) {
      return decimal(random);
    }
    if (type instanceof ParameterizedType some && some.getRawType() == List.class) {
      Type of = some.getActualTypeArguments()[0];
      return List.of(value(of, random), value(of, random));
    }
    if (type instanceof ParameterizedType some && some.getRawType() == Map.class) {
      return Map.of("A", text(random), "B", text(random));
    }
    if (type instanceof Class<?> some && some.isRecord()) {
      return request(some, random);
    }
    if (type == Object.class) {
      return random.nextBoolean() ? text(random) : random.nextBoolean();
    }
    assertEquals(String.class, type);
    return text(random);
  }

  /** A decimal that is no whole number, because those lose their zeros when they are parsed. */
  private static BigDecimal decimal(Random random) {
    return BigDecimal.valueOf(random.nextLong() | 1, 1 + random.nextInt(18));
  }

  /** Random characters: ones that JSON escapes, and ones of one to four bytes. */
  private static String text(Random random) {
    int[] points = {'a', '"', '\\', '/', '\n', 0x1f, 0x7f, 'é', '€', 0x2028, 0x1f600};
    StringBuilder text = new StringBuilder();
    random
        .ints(random.nextInt(6), 0, points.length)
        .forEach(at -> text.appendCodePoint(points[at]));
    return text.toString();
  }

  @Test
  void absentAndNullAreReadApart() {
    AlertThresholdsJson sent =
        AlertThresholdsJson.read(
            new JsonObject().putNull("rival_within_percent").put("spend_above_usd", 5));
    assertEquals(new Setting.Cleared<>(), sent.rivalWithinPercent());
    assertEquals(new Setting.Kept<>(), sent.supplyUnderNodes());
    assertEquals(new Setting.To<>(new BigDecimal(5)), sent.spendAboveUsd());
  }

  @Test
  void aMemberThatIsNotInTheSchemaIsLeftToTheValidator() {
    JsonObject body = new JsonObject().put("max_gpus", 8);
    assertEquals(
        CapacityDeclarationJson.read(body),
        CapacityDeclarationJson.read(body.copy().put("phase", "preview")));
  }

  @Test
  void aRequiredMemberMustBeThere() {
    assertThrows(ApiException.class, () -> CapacityDeclarationJson.read(new JsonObject()));
  }

  @Test
  void anOptionalMemberOfAnAnswerIsLeftOutIfNull() {
    assertEquals(
        "{\"state\":\"grace\",\"reason\":\"unpaid\"}",
        written(new BillingHoldJson("grace", "unpaid", null, null)));
  }

  @Test
  void arraysAndMapsKeepNullsOrderAndKinds() {
    assertEquals(
        "{\"cluster\":\"c\",\"t0\":1,\"step\":60,\"max_nodes\":[null,2],\"granted\":[0,1],"
            + "\"max_price\":[null,2.0],\"price\":[0.1,null]}",
        written(
            new HistoryJson(
                "c",
                1,
                60,
                Arrays.asList(null, 2L),
                List.of(0L, 1),
                Arrays.asList(null, 2.0),
                Arrays.asList(0.1, null))));
    Map<String, String> env = new LinkedHashMap<>();
    env.put("Z", "\"");
    env.put("A", "\\");
    assertEquals(
        "{\"ssh_user\":\"u\",\"ssh_port\":22,\"site\":\"s\",\"env\":{\"Z\":\"\\\"\",\"A\":\"\\\\\"},"
            + "\"storage\":{}}",
        written(new EnvironmentJson("u", 22, "s", env, Map.of())));
  }

  private static String written(JsonRecord json) {
    return json.toBuffer().toString();
  }
}
