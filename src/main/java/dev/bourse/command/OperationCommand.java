package dev.bourse.command;

import dev.bourse.command.RemoteOperation.Input;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;

/** A command for one operation of a contract: reads its inputs, calls it, prints the answer. */
public final class OperationCommand implements Callable<Integer> {
  private static final String ALL = "--all";
  private static final String FILE = "--file";
  private static final String CONTENT_TYPE = "--content-type";

  private static final String CLUSTER = "cluster";

  /** The parameter of lists that count their pages instead of using a cursor. */
  private static final String PAGE = "page";

  private static final String CURSOR = "cursor";

  private static final List<String> CURSORS = List.of("after", "before", PAGE);

  /** Secret fields of answers, which are shown once. */
  private static final List<String> SECRETS = List.of("token", "secret");

  /** Pages that {@code --all} follows: half a million rows; an export serves longer lists. */
  private static final int MAX_PAGES = 1_000;

  private final CommandContext caller;
  private final RemoteOperation operation;
  private final Losses losses;
  private final List<Input> arguments;
  private final CommandSpec spec;

  /**
   * Reads from the service the losses that an operation would cause: deleted data, money, access.
   */
  @FunctionalInterface
  public interface Losses {
    /**
     * Returns the question to ask before the operation is called.
     *
     * @param body as it will be sent; if the operation takes a version and none was given, this
     *     adds the version the question is based on
     * @throws RefusedException if the service would refuse the operation
     */
    Question question(Service service, JsonObject body) throws RefusedException;
  }

  public OperationCommand(CommandContext caller, RemoteOperation operation) {
    this(caller, operation, (service, body) -> Question.NONE);
  }

  /**
   * @param losses gives more detail than the contract's text, for an operation that has one
   */
  public OperationCommand(CommandContext caller, RemoteOperation operation, Losses losses) {
    this.caller = caller;
    this.operation = operation;
    this.losses = losses;
    this.arguments =
        operation.arguments().stream().filter(input -> !caller.knows(input.name())).toList();
    this.spec =
        CommandSpec.wrapWithoutInspection(this)
            .name(operation.verb())
            .mixinStandardHelpOptions(true);
    spec.usageMessage().description(operation.summary() + ".", "", prose(operation.description()));
    for (int i = 0; i < arguments.size(); i++) {
      Input input = arguments.get(i);
      spec.addPositional(
          PositionalParamSpec.builder(argument(input, i))
              .completionCandidates(offered(input))
              .build());
    }
    operation.queries().forEach(query -> spec.addOption(option(query)));
    operation.fields().forEach(field -> spec.addOption(option(field)));
    if (operation.sendsBytes()) {
      spec.addOption(file("The file to send."));
      spec.addOption(
          OptionSpec.builder(CONTENT_TYPE)
              .paramLabel("TYPE")
              .type(String.class)
              .description("Its media type (default: ${DEFAULT-VALUE}).")
              .defaultValue("application/octet-stream")
              .build());
    } else if (operation.givesBytes()) {
      spec.addOption(file("Where to keep the bytes: a file that is not there yet."));
    }
    if (operation.losses().isPresent()) {
      spec.addOption(
          OptionSpec.builder("-y", ConfirmPrompt.YES)
              .type(boolean.class)
              .description(ConfirmPrompt.YES_HELP)
              .build());
    }
    if (cursor().isPresent()) {
      spec.addOption(flag(ALL, "Follow the list to its end."));
    }
  }

  /** The command's options and arguments. */
  public CommandSpec spec() {
    return spec;
  }

  /** A path segment's argument on the command line. */
  public static PositionalParamSpec argument(Input argument, int index) {
    return PositionalParamSpec.builder()
        .index(String.valueOf(index))
        .paramLabel(argument.label())
        .description(argument.description())
        .required(true)
        .type(String.class)
        .build();
  }

  /** Evaluated on each use, because the caller depends on the parsed line. */
  private Iterable<String> offered(Input input) {
    return () -> caller.offered(operation, input.name()).iterator();
  }

  private OptionSpec option(Input input) {
    boolean repeated = input.type().equals("array") || input.type().equals("object");
    OptionSpec.Builder builder =
        OptionSpec.builder(input.option())
            .paramLabel(input.type().equals("object") ? "KEY=VALUE" : input.label())
            .description(described(input))
            .required(input.required());
    if (repeated) {
      builder.type(List.class).auxiliaryTypes(String.class);
    } else {
      builder.type(String.class);
    }
    builder.completionCandidates(input.choices().isEmpty() ? offered(input) : input.choices());
    return builder.build();
  }

  private static String described(Input input) {
    StringBuilder text = new StringBuilder(prose(input.description()));
    if (!input.choices().isEmpty()) {
      text.append(" One of ").append(String.join(", ", input.choices())).append('.');
    }
    if (input.type().equals("array") || input.type().equals("object")) {
      text.append(" May be repeated.");
    }
    if (input.isNullable()) {
      text.append(" '" + FieldValue.NONE + "' for none.");
    }
    return text.toString().strip();
  }

  /** The contract's text without line breaks, except between paragraphs. */
  private static String prose(String text) {
    // In picocli's texts a percent sign starts a format.
    return text.strip().replace("%", "%%").replaceAll("(?<!\\n)\\n(?!\\n)", " ");
  }

  private static OptionSpec file(String description) {
    return OptionSpec.builder(FILE)
        .paramLabel("FILE")
        .type(Path.class)
        .description(description)
        .required(true)
        .build();
  }

  private static OptionSpec flag(String name, String description) {
    return OptionSpec.builder(name).type(boolean.class).description(description).build();
  }

  @Override
  public Integer call() {
    return CommandAction.run(spec, this::work);
  }

  private ExitCode work(PrintWriter out, PrintWriter err) throws RefusedException {
    JsonObject body = body();
    Service service = operation.takesToken() ? caller.service() : caller.openService();
    addCluster(service, body);
    requireWanted(service, body, err);
    if (operation.givesBytes()) {
      FileTransfer.fetch(service, operation.method(), path(service, Optional.empty()), file());
    } else {
      JsonObject answer = follow(service, body);
      caller.learn(operation, answer);
      print(answer, out, err);
    }
    return ExitCode.OK;
  }

  /** Asks before an operation that destroys, spends or locks out. */
  private void requireWanted(Service service, @Nullable JsonObject body, PrintWriter err)
      throws RefusedException {
    if (operation.losses().isEmpty() || isGiven(ConfirmPrompt.YES)) {
      return;
    }
    OperationLosses contractLosses = new OperationLosses(operation, given(service, body));
    if (contractLosses.areAtStake()) {
      JsonObject sent = body == null ? new JsonObject() : body;
      ConfirmPrompt.Reading reading =
          () ->
              contractLosses
                  .question(path -> service.call("GET", path, null))
                  .and(losses.question(service, sent));
      new ConfirmPrompt(caller::answer, "").require(err, reading.question(), reading);
    }
  }

  /** The operation's inputs that are given or known, by the names of the contract. */
  private Map<String, @Nullable Object> given(Service service, @Nullable JsonObject body)
      throws RefusedException {
    Map<String, @Nullable Object> given = new HashMap<>();
    for (Input argument : operation.arguments()) {
      String name = argument.name();
      given.put(name, filled('{' + name + '}', service, UnaryOperator.identity()));
    }
    for (Input query : operation.queries()) {
      Object value = spec.findOption(query.option()).getValue();
      if (value != null) {
        given.put(query.name(), value);
      }
    }
    if (body != null) {
      body.forEach(field -> given.put(field.getKey(), field.getValue()));
    }
    return given;
  }

  private List<String> arguments() {
    return spec.positionalParameters().stream()
        .map(argument -> String.valueOf(argument.<Object>getValue()))
        .toList();
  }

  private boolean isGiven(String option) {
    OptionSpec found = spec.findOption(option);
    return found != null && Boolean.TRUE.equals(found.getValue());
  }

  private Path file() {
    return spec.findOption(FILE).getValue();
  }

  /** Adds the caller's cluster to a body that has a field for it and leaves it out. */
  private void addCluster(Service service, @Nullable JsonObject body) throws RefusedException {
    boolean takes = operation.fields().stream().anyMatch(field -> field.name().equals(CLUSTER));
    if (body != null && takes && !body.containsKey(CLUSTER)) {
      caller.known(CLUSTER, service).ifPresent(name -> body.put(CLUSTER, name));
    }
  }

  private JsonObject answer(Service service, @Nullable JsonObject body) throws RefusedException {
    String path = path(service, Optional.empty());
    return operation.sendsBytes()
        ? FileTransfer.send(
            service,
            operation.method(),
            path,
            file(),
            spec.findOption(CONTENT_TYPE).<String>getValue())
        : service.call(operation.method(), path, body);
  }

  /** Calls the operation; with {@code --all} once for each page of the list. */
  private JsonObject follow(Service service, @Nullable JsonObject body) throws RefusedException {
    JsonObject answer = answer(service, body);
    Optional<String> list = AnswerFormat.listField(answer);
    if (!isGiven(ALL) || list.isEmpty()) {
      return answer;
    }
    JsonArray all = answer.getJsonArray(list.get()).copy();
    JsonObject page = answer;
    int first = pageAsked();
    for (int pages = 1; page.getBoolean("more", false); pages++) {
      if (pages == MAX_PAGES) {
        throw new RefusedException(ExitCode.REFUSED, "the list has over " + MAX_PAGES + " pages");
      }
      page =
          service.call(
              operation.method(), path(service, Optional.of(next(page, all, first + pages))), body);
      all.addAll(page.getJsonArray(list.get()));
    }
    return page.copy().put(list.get(), all);
  }

  private void print(JsonObject answer, PrintWriter out, PrintWriter err) throws RefusedException {
    AnswerFormat format = caller.format();
    out.print(format.print(answer, operation.headings()));
    if (format.form() != AnswerFormat.Form.table) {
      return;
    }
    // Flushes, so that messages on the answer follow it even where the streams are separate.
    out.flush();
    SECRETS.stream()
        .filter(answer::containsKey)
        .forEach(secret -> err.println("Keep the " + secret + ": it is shown this once."));
    Optional<String> list = AnswerFormat.listField(answer);
    if (list.isPresent()) {
      JsonArray items = answer.getJsonArray(list.get());
      if (items.isEmpty()) {
        err.println("none");
      }
      if (answer.getBoolean("more", false) && !items.isEmpty()) {
        err.println(
            "more follow: %s %s, or %s for all"
                .formatted(cursor().orElse(""), next(answer, items, 1 + pageAsked()), ALL));
      }
    }
  }

  /** The option with the cursor of a page; empty when the operation has no pages. */
  private Optional<String> cursor() {
    return operation.queries().stream()
        .filter(query -> CURSORS.contains(query.name()))
        .map(Input::option)
        .findFirst();
  }

  /**
   * The cursor of the next page; for a trail, the last entry's key, which is its first field.
   *
   * @param number the next page's number, for lists that count pages
   */
  private String next(JsonObject page, JsonArray items, int number) {
    if (cursor().equals(Optional.of("--" + PAGE))) {
      return String.valueOf(number);
    }
    for (String field : List.of("next", CURSOR)) {
      if (page.getValue(field) instanceof String next) {
        return next;
      }
    }
    JsonObject last = items.getJsonObject(items.size() - 1);
    return String.valueOf(last.getValue(last.fieldNames().iterator().next()));
  }

  /** The requested page, for lists that count pages. */
  private int pageAsked() {
    OptionSpec page = spec.findOption("--" + PAGE);
    String given = page == null ? null : page.getValue();
    return given == null || !given.matches("[0-9]{1,7}") ? 0 : Integer.parseInt(given);
  }

  private String path(Service service, Optional<String> after) throws RefusedException {
    String path = filled(operation.path(), service, Service::encoded);
    List<String> query = new ArrayList<>();
    for (Input input : operation.queries()) {
      Object given = spec.findOption(input.option()).getValue();
      boolean isCursor = cursor().filter(input.option()::equals).isPresent();
      String value = isCursor && after.isPresent() ? after.get() : (String) given;
      if (value == null && input.name().equals(CLUSTER)) {
        value = caller.known(CLUSTER, service).orElse(null);
      }
      if (value != null) {
        query.add(input.name() + '=' + Service.encoded(value));
      }
    }
    return query.isEmpty() ? path : path + '?' + String.join("&", query);
  }

  /** A text with the path parameters in braces replaced by the given values. */
  private String filled(String template, Service service, UnaryOperator<String> written)
      throws RefusedException {
    String text = template;
    int typed = 0;
    for (Input argument : operation.arguments()) {
      String value =
          caller.knows(argument.name())
              ? caller.known(argument.name(), service).orElseThrow()
              : arguments().get(typed++);
      text = text.replace('{' + argument.name() + '}', written.apply(value));
    }
    return text;
  }

  private @Nullable JsonObject body() {
    if (operation.fields().isEmpty()) {
      return null;
    }
    JsonObject body = new JsonObject();
    for (Input field : operation.fields()) {
      Object given = spec.findOption(field.option()).getValue();
      if (given != null) {
        body.put(field.name(), valueOf(field, given));
      }
    }
    return body;
  }

  private @Nullable Object valueOf(Input field, Object given) {
    List<String> texts = new ArrayList<>();
    if (given instanceof List<?> several) {
      several.forEach(one -> texts.add(String.valueOf(one)));
    } else {
      texts.add(String.valueOf(given));
    }
    try {
      return FieldValue.of(field, texts);
    } catch (IllegalArgumentException | DecodeException e) {
      throw new ParameterException(
          spec.commandLine(),
          field.option() + ": '" + String.join(" ", texts) + "' is no " + field.type());
    }
  }
}
