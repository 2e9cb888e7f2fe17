package dev.bourse.build;

import com.palantir.javapoet.AnnotationSpec;
import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.JavaFile;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.ParameterSpec;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import com.palantir.javapoet.WildcardTypeName;
import java.io.IOException;
import java.io.Reader;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.annotation.processing.Generated;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.Modifier;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * The build step that writes a Java record for each object among the component schemas of the
 * {@link #CONVERTED} contracts. Maven runs this file as a single-file program before it compiles.
 *
 * <p>A file whose content is unchanged is not written, so that an incremental build recompiles
 * nothing. The package {@code dev.bourse.schemas} describes the records.
 */
public final class SchemaTypes {
  /** The contracts whose requests and answers are records. */
  private static final List<String> CONVERTED =
      List.of("billing", "checkpoints", "k8s", "market", "org", "vm");

  /** The schemas that are records of contracts whose other routes still use trees. */
  private static final Map<String, List<String>> PARTS =
      Map.of(
          "common",
          List.of("ApiTokenPage", "ApiTokenRevocation", "NewApiToken", "RuleRemoval"),
          "console",
          List.of(
              "ApiTokenName",
              "ApiTokenOrder",
              "ApplicationList",
              "ColleaguePage",
              "InvitationList",
              "InvitationOrder",
              "OpenPools",
              "OrgSettings",
              "OwnCluster",
              "OwnClusterChange",
              "OwnClusterCreation",
              "OwnClusterPage",
              "PublishingCredentialOrder",
              "RuleList",
              "RuleOrder",
              "RulePreview",
              "SpendLimit",
              "SpendOutlook",
              "TrailStreamOrder",
              "UsageDays",
              "WebhookEndpointChange",
              "WebhookEndpointOrder"),
          "operator",
          List.of(
              "Booking",
              "CheckpointsMoveRequest",
              "ClusterChange",
              "ClusterPage",
              "Credit",
              "DocumentPage",
              "DocumentPublication",
              "JoinRuleAddition",
              "JoinRulePage",
              "LedgerReport",
              "MemberAddition",
              "MemberChange",
              "MemberInvitation",
              "MintedOperatorToken",
              "NewCluster",
              "NewNode",
              "NewPool",
              "NodeChange",
              "NodeEviction",
              "NodeHostKey",
              "NodeReclaimEnd",
              "OperatorMint",
              "OperatorSignIn",
              "OperatorTokenPage",
              "OrgChange",
              "OrgCreation",
              "OrgHoldRequest",
              "Payment",
              "Rebaseline",
              "ReviewPage",
              "ReviewRejection",
              "RosterPage",
              "SpendLimit",
              "StoredCheckpointPage",
              "Switches",
              "SwitchesChange",
              "TokenMint",
              "TokenNarrowing",
              "Trail"));

  private static final String COMMON = "common";
  private static final String HOME = "dev.bourse.schemas.";
  private static final String SCHEMAS = "#/components/schemas/";

  /** The steps of a path to a component, such as {@code components/schemas/Token}. */
  private static final int COMPONENT_DEPTH = 3;

  /** Each error code adds its own members, so an error is a map in the order of its exception. */
  private static final String ERROR = "ApiError";

  /** Code in a description. */
  private static final Pattern CODE = Pattern.compile("`([^`{}]*)`");

  private static final ClassName RECORD = ClassName.get("dev.bourse.json", "JsonRecord");
  private static final ClassName WRITER = ClassName.get("dev.bourse.json", "JsonBytes");
  private static final ClassName READER = ClassName.get("dev.bourse.json", "JsonReader");
  private static final ClassName SETTING = ClassName.get("dev.bourse.json", "Setting");
  private static final ClassName TREE = ClassName.get("io.vertx.core.json", "JsonObject");
  private static final AnnotationSpec NULLABLE =
      AnnotationSpec.builder(ClassName.get("org.jspecify.annotations", "Nullable")).build();

  private final List<String> converted;
  private final Map<String, List<String>> parts;
  private final Map<String, Map<String, Object>> contracts = new TreeMap<>();

  /** The schemas of request bodies and their parts. */
  private final Set<Schema> requests = new HashSet<>();

  /** The schemas of answers and their parts. */
  private final Set<Schema> answers = new HashSet<>();

  /** The objects that a property defines in its place, named after their owner and property. */
  private final Map<Schema, Map<String, Object>> inline = new HashMap<>();

  /** The sources, by their path in the output folder. */
  private final Map<Path, String> sources = new TreeMap<>();

  /** A component schema of a contract. */
  private record Schema(String contract, String name) {
    ClassName type() {
      return ClassName.get(HOME + contract, name + "Json");
    }
  }

  /** How a value is written. */
  private enum Kind {
    VALUE,
    TIME,
    RECORD,
    VALUES,
    RECORDS,
    MAP
  }

  /**
   * The Java form of a value.
   *
   * @param read the reader's method for it; empty if requests have no such value yet
   */
  private record Form(Kind kind, TypeName type, String read) {
    /** Returns what the reader's method needs beside the name: the reader of a part. */
    CodeBlock part() {
      return switch (kind) {
        case RECORD -> CodeBlock.of(", $T::read", type);
        case RECORDS ->
            CodeBlock.of(", $T::read", ((ParameterizedTypeName) type).typeArguments().get(0));
        default -> CodeBlock.of("");
      };
    }

    boolean isArray() {
      return kind == Kind.VALUES || kind == Kind.RECORDS;
    }
  }

  /** A property of a schema. */
  private record Member(String name, Form form, boolean isRequired, boolean isNullable) {

    /** True if absent, null and a value are three different requests. */
    boolean isSetting() {
      return !isRequired && isNullable;
    }

    TypeName type() {
      if (isSetting()) {
        return ParameterizedTypeName.get(SETTING, form.type.box());
      }
      return isRequired && !isNullable ? form.type : form.type.box().annotated(NULLABLE);
    }

    String component() {
      String typeName = typeName(name);
      String camel =
          typeName.substring(0, 1).toLowerCase(Locale.ROOT)
              + typeName.substring(1)
              + (form.kind == Kind.TIME ? "Millis" : "");
      if (SourceVersion.isName(camel)) {
        return camel;
      }
      if (SourceVersion.isKeyword(camel) && form.type == TypeName.BOOLEAN) {
        return "is" + camel.substring(0, 1).toUpperCase(Locale.ROOT) + camel.substring(1);
      }
      throw new IllegalStateException("property " + name + " is no Java name");
    }
  }

  /** Returns {@code OrgId} for {@code org_id}. */
  private static String typeName(String property) {
    return Stream.of(property.split("_", -1))
        .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
        .collect(Collectors.joining());
  }

  private SchemaTypes(List<String> converted, Map<String, List<String>> parts) {
    this.converted = converted;
    this.parts = parts;
  }

  /**
   * Writes the records, and deletes those of schemas that no longer exist.
   *
   * @param args the folder of the contracts, the output folder, and, in tests of this step, the
   *     contracts to convert instead of the product's
   */
  public static void main(String[] args) throws IOException {
    SchemaTypes types =
        args.length == 2
            ? new SchemaTypes(CONVERTED, PARTS)
            : new SchemaTypes(List.of(args).subList(2, args.length), Map.of());
    Path contracts = Path.of(args[0]);
    Set<String> names = new HashSet<>(types.converted);
    names.addAll(types.parts.keySet());
    names.add(COMMON);
    for (String name : names) {
      types.contracts.put(name, read(contracts.resolve(name + ".yaml")));
    }
    types.contracts.replaceAll((name, contract) -> object(types.inlined(name, contract)));
    types.generate();
    types.writeTo(Path.of(args[1]));
  }

  private static Map<String, Object> read(Path file) throws IOException {
    try (Reader yaml = Files.newBufferedReader(file)) {
      return new Yaml(new SafeConstructor(new LoaderOptions())).load(yaml);
    }
  }

  /** Replaces each reference to a part that is no component by the part. */
  private Object inlined(String contract, Object node) {
    if (node instanceof List<?> list) {
      return list.stream().map(item -> inlined(contract, item)).toList();
    }
    if (!(node instanceof Map<?, ?>)) {
      return node;
    }
    Map<String, Object> map = object(node);
    if (map.get("$ref") instanceof String reference) {
      String[] path = reference.substring(reference.indexOf('#') + 2).split("/", -1);
      if (path[0].equals("x-schemas") || path.length > COMPONENT_DEPTH) {
        Object part = contracts.get(target(contract, reference).contract);
        for (String step : path) {
          part = object(part).get(step);
        }
        return inlined(contract, part);
      }
    }
    map.replaceAll((name, value) -> inlined(contract, value));
    return map;
  }

  private void generate() {
    Deque<Schema> left = new ArrayDeque<>();
    for (String contract : converted) {
      schemas(contract).forEach((name, schema) -> left.add(new Schema(contract, name)));
    }
    parts.forEach((contract, names) -> names.forEach(name -> left.add(new Schema(contract, name))));
    contracts.forEach(
        (name, contract) -> {
          find(name, contract.get("paths"), "requestBody", requests);
          find(name, contract.get("paths"), "responses", answers);
        });
    Set<Schema> seen = new HashSet<>(left);
    for (String contract : converted) {
      references(contract, contracts.get(contract)).filter(seen::add).forEach(left::add);
    }
    while (!left.isEmpty()) {
      Schema schema = left.remove();
      Map<String, Object> definition = definition(schema);
      if (isRecord(schema, definition)) {
        add(schema, definition);
        references(schema.contract, definition).filter(seen::add).forEach(left::add);
      }
    }
    sources.keySet().stream().map(Path::getParent).distinct().toList().forEach(this::addPackage);
  }

  private static boolean isRecord(Schema schema, Map<String, Object> definition) {
    return definition.containsKey("properties") && !schema.name.equals(ERROR);
  }

  /**
   * Returns the schema of a value; a reference is replaced by its target, unless that is a type.
   */
  private Map<String, Object> resolved(String contract, Map<String, Object> schema) {
    if (!(schema.get("$ref") instanceof String reference)) {
      return schema;
    }
    Schema target = target(contract, reference);
    Map<String, Object> definition = definition(target);
    return isRecord(target, definition) || target.name.equals(ERROR)
        ? schema
        : resolved(target.contract, definition);
  }

  /** Finds the schemas that are referred to below each node of a name, and their parts. */
  private void find(String contract, Object node, String name, Set<Schema> found) {
    if (node instanceof Map<?, ?> map) {
      map.forEach(
          (key, value) -> {
            if (key.equals(name)) {
              addParts(contract, value, found);
            } else {
              find(contract, value, name, found);
            }
          });
    }
  }

  private void addParts(String contract, Object node, Set<Schema> found) {
    references(contract, node)
        .filter(schema -> contracts.containsKey(schema.contract) && found.add(schema))
        .toList()
        .forEach(
            schema -> addParts(schema.contract, schemas(schema.contract).get(schema.name), found));
  }

  private static Stream<Schema> references(String contract, Object node) {
    if (node instanceof List<?> list) {
      return list.stream().flatMap(item -> references(contract, item));
    }
    if (!(node instanceof Map<?, ?> map)) {
      return Stream.empty();
    }
    Stream<Schema> within = map.values().stream().flatMap(value -> references(contract, value));
    return map.get("$ref") instanceof String reference && reference.contains(SCHEMAS)
        ? Stream.concat(Stream.of(target(contract, reference)), within)
        : within;
  }

  private static Schema target(String contract, String reference) {
    String file = reference.startsWith("#") ? contract : reference.replaceFirst("\\.yaml#.*$", "");
    return new Schema(file, reference.substring(reference.lastIndexOf('/') + 1));
  }

  private void add(Schema schema, Map<String, Object> definition) {
    boolean isRequest = requests.contains(schema);
    boolean isAnswer = !isRequest || answers.contains(schema);
    List<String> required = strings(definition.get("required"));
    List<Member> members = new ArrayList<>();
    CodeBlock.Builder doc = CodeBlock.builder();
    doc.add("$L\n", text(definition, "The schema `" + schema.name + "`."));
    MethodSpec.Builder components = MethodSpec.constructorBuilder();
    object(definition.get("properties"))
        .forEach(
            (name, definedAs) -> {
              Map<String, Object> property =
                  named(schema, name, resolved(schema.contract, object(definedAs)));
              // The validator fills in the default of a property that is absent.
              boolean hasDefault =
                  property.containsKey("default") || object(definedAs).containsKey("default");
              boolean isPresent = required.contains(name) || (isRequest && hasDefault);
              Member member = member(schema, name, property, isPresent, isRequest);
              if (isRequest && isAnswer && hasTwoForms(property)) {
                throw unsupported(
                    "property %s of %s".formatted(name, schema.name),
                    "a number or a time in a schema of requests and answers");
              }
              members.add(member);
              components.addParameter(
                  ParameterSpec.builder(member.type(), member.component()).build());
              doc.add("\n@param $L $L", member.component(), text(property, "`" + name + "`"));
            });
    TypeSpec.Builder type =
        TypeSpec.recordBuilder(schema.type())
            .addModifiers(Modifier.PUBLIC)
            .addAnnotation(
                AnnotationSpec.builder(Generated.class)
                    .addMember("value", "$S", SchemaTypes.class.getName())
                    .build())
            .addJavadoc(doc.build())
            .recordConstructor(components.build());
    if (isRequest) {
      type.addMethod(reader(schema, members));
    }
    if (isAnswer) {
      type.addSuperinterface(RECORD).addMethod(writer(members));
    }
    sources.put(
        file(schema.type().packageName(), schema.type().simpleName()),
        JavaFile.builder(schema.type().packageName(), type.build())
            .skipJavaLangImports(true)
            .indent("  ")
            .build()
            .toString());
  }

  /** Gives an object that a property defines in its place a record of its own. */
  private Map<String, Object> named(Schema owner, String name, Map<String, Object> property) {
    if (!property.containsKey("properties")) {
      return property;
    }
    Schema part = new Schema(owner.contract, owner.name + typeName(name));
    inline.put(part, property);
    Stream.of(requests, answers).filter(all -> all.contains(owner)).forEach(all -> all.add(part));
    add(part, property);
    Map<String, Object> reference = Map.of("$ref", SCHEMAS + part.name);
    Map<String, Object> replaced = new LinkedHashMap<>(property);
    replaced.keySet().retainAll(List.of("description"));
    if (isNullable(property)) {
      replaced.put("oneOf", List.of(reference, Map.of("type", "null")));
    } else {
      replaced.putAll(reference);
    }
    return replaced;
  }

  private Map<String, Object> definition(Schema schema) {
    Map<String, Object> part = inline.get(schema);
    return part == null ? object(schemas(schema.contract).get(schema.name)) : part;
  }

  private void addPackage(Path folder) {
    String contract = folder.getFileName().toString();
    sources.put(
        folder.resolve("package-info.java"),
        """
        /** The schemas of the contract {@code %1$s.yaml} as records. */
        @NullMarked
        package %2$s%1$s;

        import org.jspecify.annotations.NullMarked;
        """
            .formatted(contract, HOME));
  }

  private static MethodSpec writer(List<Member> members) {
    MethodSpec.Builder write =
        MethodSpec.methodBuilder("write")
            .addAnnotation(Override.class)
            .addModifiers(Modifier.PUBLIC)
            .addParameter(WRITER, "out");
    for (Member member : members) {
      String method =
          switch (member.form.kind) {
            case VALUE -> "put";
            case TIME -> "time";
            case RECORD -> "object";
            case VALUES -> "values";
            case RECORDS -> "objects";
            case MAP -> "map";
          };
      CodeBlock call = CodeBlock.of("out.$L($S, $L)", method, member.name, member.component());
      if (member.isRequired) {
        write.addStatement(call);
      } else {
        write
            .beginControlFlow("if ($L != null)", member.component())
            .addStatement(call)
            .endControlFlow();
      }
    }
    return write.build();
  }

  private static MethodSpec reader(Schema schema, List<Member> members) {
    CodeBlock arguments =
        members.stream().map(member -> readOf(schema, member)).collect(CodeBlock.joining(",\n"));
    return MethodSpec.methodBuilder("read")
        .addModifiers(Modifier.PUBLIC, Modifier.STATIC)
        .addJavadoc("Reads a body that the contract's validator has accepted.\n")
        .addParameter(TREE, "body")
        .returns(schema.type())
        .addStatement("$1T in = new $1T(body)", READER)
        .addStatement("return new $T(\n$L)", schema.type(), arguments)
        .build();
  }

  private static CodeBlock readOf(Schema schema, Member member) {
    String method = member.form.read;
    if (method.isEmpty()) {
      throw new IllegalStateException(
          "property %s of the request %s: JsonReader does not read %s yet"
              .formatted(member.name, schema.name, member.form.type));
    }
    CodeBlock part = member.form.part();
    CodeBlock function =
        part.isEmpty()
            ? CodeBlock.of("in::$L", method)
            : CodeBlock.of("name -> in.$L(name$L)", method, part);
    if (member.isSetting()) {
      return CodeBlock.of("in.setting($S, $L)", member.name, function);
    }
    return member.isRequired && !member.isNullable
        ? CodeBlock.of("in.$L($S$L)", method, member.name, part)
        : CodeBlock.of("in.optional($S, $L)", member.name, function);
  }

  private Member member(
      Schema schema,
      String name,
      Map<String, Object> property,
      boolean isRequired,
      boolean isRequest) {
    String place = "property %s of %s".formatted(name, schema.name);
    Form form = form(place, schema.contract, property, isRequest);
    Member member = new Member(name, form, isRequired, isNullable(property));
    if (!isRequest && member.isNullable && form.isArray()) {
      throw unsupported(place, "a nullable array");
    }
    if (!isRequest && member.isSetting()) {
      throw new IllegalStateException(place + ": a nullable property is required in an answer");
    }
    return member;
  }

  private Form form(String place, String contract, Map<String, Object> schema, boolean isRequest) {
    Map<String, Object> definition = present(schema);
    if (definition.get("$ref") instanceof String reference) {
      Schema target = target(contract, reference);
      Map<String, Object> referred = definition(target);
      if (target.name.equals(ERROR)) {
        return new Form(Kind.MAP, map(ClassName.get(Object.class)), "");
      }
      if (!isRecord(target, referred)) {
        return form(place, target.contract, referred, isRequest);
      }
      if (requests.contains(target) && !isRequest && !answers.contains(target)) {
        throw unsupported(place, "a request within a schema: " + target.name);
      }
      return new Form(Kind.RECORD, target.type(), "object");
    }
    if (isRequest && definition.get("oneOf") instanceof List<?> choices) {
      choices.forEach(choice -> requireValue(place, contract, object(choice)));
      return new Form(Kind.VALUE, ClassName.get(Object.class), "value");
    }
    String type = types(definition).stream().filter(t -> !t.equals("null")).findFirst().orElse("");
    return switch (type) {
      case "string" ->
          "date-time".equals(definition.get("format")) && !isRequest
              ? new Form(Kind.TIME, TypeName.LONG, "")
              : new Form(Kind.VALUE, ClassName.get(String.class), "text");
      case "integer" ->
          "int64".equals(definition.get("format"))
              ? new Form(Kind.VALUE, TypeName.LONG, "longInteger")
              : new Form(Kind.VALUE, TypeName.INT, "integer");
      case "number" ->
          isRequest
              ? new Form(Kind.VALUE, ClassName.get(BigDecimal.class), "decimal")
              : new Form(Kind.VALUE, TypeName.DOUBLE, "");
      case "boolean" -> new Form(Kind.VALUE, TypeName.BOOLEAN, "truth");
      case "array" -> array(place, contract, object(definition.get("items")), isRequest);
      case "object" -> mapOf(place, contract, definition.get("additionalProperties"), isRequest);
      default -> throw unsupported(place, definition.toString());
    };
  }

  private void requireValue(String place, String contract, Map<String, Object> choice) {
    if (form(place, contract, choice, true).kind != Kind.VALUE) {
      throw unsupported(place, "a choice of " + choice);
    }
  }

  private Form array(String place, String contract, Map<String, Object> items, boolean isRequest) {
    Form item = form(place, contract, items, isRequest);
    boolean hasNulls = isNullable(items);
    if (item.kind == Kind.RECORD && !hasNulls) {
      return new Form(Kind.RECORDS, list(item.type), "objects");
    }
    if (item.kind != Kind.VALUE || (isRequest && hasNulls)) {
      throw unsupported(place, "an array of " + items);
    }
    TypeName type = item.type.box();
    if (item.type.isPrimitive() && item.type != TypeName.BOOLEAN) {
      TypeName number = ClassName.get(Number.class);
      type = WildcardTypeName.subtypeOf(hasNulls ? number.annotated(NULLABLE) : number);
    } else if (hasNulls) {
      type = type.annotated(NULLABLE);
    }
    return new Form(Kind.VALUES, list(type), item.read.equals("text") ? "texts" : "");
  }

  private Form mapOf(String place, String contract, Object additional, boolean isRequest) {
    if (!(additional instanceof Map<?, ?>)) {
      throw unsupported(place, "an object with neither a schema's name nor a schema of its values");
    }
    Map<String, Object> values = object(additional);
    Form value = form(place, contract, values, isRequest);
    if (value.kind != Kind.VALUE) {
      throw unsupported(place, "a map of " + values);
    }
    TypeName type = value.type.box();
    return new Form(
        Kind.MAP,
        map(isNullable(values) ? type.annotated(NULLABLE) : type),
        value.read.equals("text") ? "textMap" : "");
  }

  /** Returns true if requests and answers have different Java types of a value. */
  private static boolean hasTwoForms(Map<String, Object> schema) {
    Map<String, Object> definition = present(schema);
    return types(definition).contains("number") || "date-time".equals(definition.get("format"));
  }

  private static IllegalStateException unsupported(String place, String shape) {
    return new IllegalStateException(place + ": records do not support " + shape);
  }

  private static TypeName list(TypeName item) {
    return ParameterizedTypeName.get(ClassName.get(List.class), item);
  }

  private static TypeName map(TypeName value) {
    return ParameterizedTypeName.get(ClassName.get(Map.class), ClassName.get(String.class), value);
  }

  private static boolean isNullable(Map<String, Object> schema) {
    return types(schema).contains("null")
        || (schema.get("oneOf") instanceof List<?> choices
            && choices.stream().anyMatch(choice -> types(object(choice)).contains("null")));
  }

  /** The schema of a value that is not null; a choice if there are several. */
  private static Map<String, Object> present(Map<String, Object> schema) {
    if (!(schema.get("oneOf") instanceof List<?> choices)) {
      return schema;
    }
    List<Map<String, Object>> present =
        choices.stream()
            .map(SchemaTypes::object)
            .filter(choice -> !types(choice).contains("null"))
            .toList();
    return present.size() == 1 ? present.get(0) : Map.of("oneOf", present);
  }

  private static List<String> types(Map<String, Object> schema) {
    Object type = schema.get("type");
    return type instanceof String one ? List.of(one) : strings(type);
  }

  /** Formats a description as Javadoc. */
  private static String text(Map<String, Object> schema, String otherwise) {
    String text = schema.get("description") instanceof String own ? own : otherwise;
    StringBuilder javadoc = new StringBuilder();
    Matcher code = CODE.matcher(text.strip());
    int from = 0;
    for (; code.find(); from = code.end()) {
      javadoc.append(prose(text.strip().substring(from, code.start()))).append(code(code.group(1)));
    }
    return javadoc.append(prose(text.strip().substring(from))).toString();
  }

  private static String prose(String text) {
    return escaped(text).replace("\n\n", "\n\n<p>");
  }

  /** Formats code. Javadoc resolves no entities in an inline tag, so such code is an element. */
  private static String code(String code) {
    return code.contains("\\") || code.contains("*/")
        ? "<code>" + escaped(code) + "</code>"
        : "{@code " + code + "}";
  }

  /** Escapes what HTML, Javadoc or the compiler would read; it reads a backslash and u anywhere. */
  private static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("*/", "*&#47;")
        .replace("@", "&#64;")
        .replace("\\", "&#92;");
  }

  private Map<String, Object> schemas(String contract) {
    return object(object(contracts.get(contract).get("components")).get("schemas"));
  }

  private static Map<String, Object> object(Object node) {
    Map<String, Object> object = new LinkedHashMap<>();
    if (node instanceof Map<?, ?> map) {
      map.forEach((key, value) -> object.put(key.toString(), value));
      return object;
    }
    throw new IllegalStateException("expected an object, found " + node);
  }

  private static List<String> strings(Object node) {
    return node instanceof List<?> list ? list.stream().map(Object::toString).toList() : List.of();
  }

  private static Path file(String packageName, String type) {
    return Path.of(packageName.replace('.', '/'), type + ".java");
  }

  private void writeTo(Path target) throws IOException {
    Files.createDirectories(target);
    try (Stream<Path> files = Files.walk(target)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (!sources.containsKey(target.relativize(file))) {
          Files.delete(file);
        }
      }
    }
    for (Map.Entry<Path, String> source : sources.entrySet()) {
      Path file = target.resolve(source.getKey());
      if (!Files.exists(file) || !Files.readString(file).equals(source.getValue())) {
        Files.createDirectories(file.getParent());
        Files.writeString(file, source.getValue());
      }
    }
  }
}
