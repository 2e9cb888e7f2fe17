package dev.bourse.admin;

import dev.bourse.command.AnswerFormat;
import dev.bourse.command.CertificateOptions;
import dev.bourse.command.CommandContext;
import dev.bourse.command.OperationCommand;
import dev.bourse.command.RemoteOperation;
import dev.bourse.contract.Contract;
import dev.bourse.remote.Credential;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** {@code bourse admin}: a command for each operation of the operator contract. */
@Command(
    name = "admin",
    description = {
      "Runs a Bourse over its operators' interface.",
      "",
      "Without --url and --token-file, the operator.json of the data folder names the service."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      " 0:done",
      " 1:refused; the same command will be refused again",
      " 2:the command line is wrong, or no terminal to confirm on; add --yes",
      " 3:the service cannot be reached or cannot serve now; try again",
      " 4:a trail was verified and is not whole"
    })
public final class AdminCommand implements CommandContext {
  /** The security scheme of operators' tokens. */
  private static final Set<String> TOKEN = Set.of("operatorToken");

  @Option(
      names = "--url",
      scope = ScopeType.INHERIT,
      paramLabel = "URL",
      description = "Where the service is (environment: BOURSE_URL).")
  private @Nullable String url;

  @Option(
      names = "--token-file",
      scope = ScopeType.INHERIT,
      paramLabel = "FILE",
      description =
          """
          A file with an operator's token, alone or as operator_token in JSON (environment: \
          BOURSE_OPERATOR_TOKEN holds the token itself).\
          """)
  private @Nullable Path tokenFile;

  @Mixin private CertificateOptions certificate = new CertificateOptions();

  @Option(
      names = "--data",
      scope = ScopeType.INHERIT,
      paramLabel = "FOLDER",
      description = "The data folder whose operator.json is read (default: ${DEFAULT-VALUE}).",
      defaultValue = "data")
  private Path data = Path.of("data");

  @Option(
      names = {"-o", "--output"},
      scope = ScopeType.INHERIT,
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
      defaultValue = "table")
  private AnswerFormat.Form output = AnswerFormat.Form.table;

  @Option(
      names = "--fields",
      scope = ScopeType.INHERIT,
      split = ",",
      paramLabel = "FIELD",
      description = "Only these fields of the answer; a.b is b of a.")
  private List<String> fields = List.of();

  private final Map<String, String> environment;

  private AdminCommand(Map<String, String> environment) {
    this.environment = environment;
  }

  /**
   * Creates the command and all its subcommands.
   *
   * @param environment holds {@code BOURSE_URL} and {@code BOURSE_OPERATOR_TOKEN}
   */
  public static CommandLine create(Map<String, String> environment) {
    AdminCommand admin = new AdminCommand(environment);
    CommandLine line = new CommandLine(admin);
    Map<String, CommandSpec> nouns = new LinkedHashMap<>();
    JsonObject contract = Contract.resolvedDocument("operator");
    for (RemoteOperation operation : RemoteOperation.listOf(contract, TOKEN)) {
      if (operation.operationId().equals("readStatus")) {
        line.addSubcommand(operation.command(), new SiteStatusCommand(admin, operation).spec());
        continue;
      }
      CommandSpec noun =
          nouns.computeIfAbsent(operation.noun(), name -> noun(name, about(contract, name)));
      CommandSpec verb =
          operation.noun().equals("audit") && operation.verb().equals("verify")
              ? new AuditVerifyCommand(admin, operation).spec()
              : new OperationCommand(admin, operation).spec();
      noun.addSubcommand(operation.verb(), verb);
    }
    nouns.forEach((name, spec) -> line.addSubcommand(name, spec));
    line.setCaseInsensitiveEnumValuesAllowed(true);
    return line;
  }

  /**
   * Creates a command with its name and help text only, for command lines that run another one:
   * building all subcommands takes longer than most commands run.
   */
  public static CommandLine named(String name) {
    CommandLine line = new CommandLine(new AdminCommand(Map.of())).setCommandName(name);
    if (!name.equals("admin")) {
      line.getCommandSpec().usageMessage().description("For operators: %s.".formatted(name));
    }
    return line;
  }

  /**
   * Creates the commands of one noun as a top-level command, {@code bourse checkpoints …} for
   * {@code bourse admin checkpoints …}.
   */
  public static CommandLine createNoun(String name, Map<String, String> environment) {
    AdminCommand admin = new AdminCommand(environment);
    JsonObject contract = Contract.resolvedDocument("operator");
    CommandLine line = new CommandLine(admin).setCommandName(name);
    line.getCommandSpec().usageMessage().description(about(contract, name), "", "For operators.");
    RemoteOperation.listOf(contract, TOKEN).stream()
        .filter(operation -> operation.noun().equals(name))
        .forEach(
            operation ->
                line.addSubcommand(
                    operation.verb(), new OperationCommand(admin, operation).spec()));
    return line.setCaseInsensitiveEnumValuesAllowed(true);
  }

  private static CommandSpec noun(String name, String about) {
    CommandSpec spec = CommandSpec.create().name(name).mixinStandardHelpOptions(true);
    spec.usageMessage().description(about);
    return spec;
  }

  private static String about(JsonObject contract, String tag) {
    return contract.getJsonArray("tags").stream()
        .map(JsonObject.class::cast)
        .filter(described -> described.getString("name").equals(tag))
        .map(described -> described.getString("description"))
        .findFirst()
        .orElse("");
  }

  @Override
  public AnswerFormat format() {
    return new AnswerFormat(output, fields);
  }

  /**
   * Returns the service that the options name, then the environment, then the data folder.
   *
   * @throws RefusedException when there is no token
   */
  @Override
  public Service service() throws RefusedException {
    certificate.show(environment);
    JsonObject told = readTokenFile();
    String address = first(url, environment.get("BOURSE_URL"), told.getString("base_url"));
    String token =
        first(
            tokenFile == null ? null : token(tokenFile),
            environment.get("BOURSE_OPERATOR_TOKEN"),
            told.getString("operator_token"));
    if (token == null) {
      throw new RefusedException(
          ExitCode.USAGE,
          """
          no operator's token: give --token-file, set BOURSE_OPERATOR_TOKEN, or name the service's \
          data folder with --data (there is no operator.json in %s)\
          """
              .formatted(data));
    }
    return new Service(
        address == null ? "http://localhost:8080" : address,
        Credential.of(
            token,
            """
            Give an operator's token in BOURSE_OPERATOR_TOKEN or a file with --token-file; the \
            first one is in operator.json in the data folder\
            """));
  }

  private JsonObject readTokenFile() throws RefusedException {
    Path file = data.resolve("operator.json");
    return Files.isReadable(file) ? new JsonObject(read(file)) : new JsonObject();
  }

  private static String token(Path file) throws RefusedException {
    String text = read(file).strip();
    String token = text.startsWith("{") ? new JsonObject(text).getString("operator_token") : text;
    if (token == null) {
      throw new RefusedException(
          ExitCode.USAGE, "--token-file: " + file + " has no operator_token");
    }
    return token;
  }

  private static String read(Path file) throws RefusedException {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot read " + file + ": " + IoWords.of(e));
    }
  }

  private static @Nullable String first(@Nullable String... candidates) {
    for (String candidate : candidates) {
      if (candidate != null && !candidate.isBlank()) {
        return candidate;
      }
    }
    return null;
  }
}
