package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.ConfigFolder;
import dev.bourse.command.AnswerFormat;
import dev.bourse.command.CommandContext;
import dev.bourse.command.RemoteOperation;
import dev.bourse.remote.Credential;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Calls operations with the token of the sign-in or of the options. */
public final class MemberCommandContext implements CommandContext {
  private static final String ORGANIZATION = "org";
  private static final String CLUSTER = "cluster";
  private static final String NAME = "name";
  private static final String NODE = "node";

  private final CommandEnvironment environment;

  @Mixin private final ServiceOptions options = new ServiceOptions();
  @Mixin private final ServiceOptions.WithToken token = new ServiceOptions.WithToken();
  @Mixin private final FormatOptions format = new FormatOptions();

  public MemberCommandContext(CommandEnvironment environment) {
    this.environment = environment;
  }

  /** The options of the output format. */
  public static final class FormatOptions {
    @Option(
        names = {"-o", "--output"},
        description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
        defaultValue = "table")
    private AnswerFormat.Form form = AnswerFormat.Form.table;

    @Option(
        names = "--fields",
        split = ",",
        paramLabel = "FIELD",
        description = "Only these fields of the answer; a.b is b of a.")
    private @Nullable List<String> fields;

    public AnswerFormat get() {
      return new AnswerFormat(form, fields == null ? List.of() : fields);
    }
  }

  @Override
  public Service service() throws RefusedException {
    CredentialFile credentials = credentials();
    return token.service(options.profile(environment, credentials), environment, credentials);
  }

  @Override
  public Service openService() throws RefusedException {
    return new Service(options.profile(environment, credentials()).url(), Credential.NONE);
  }

  private CredentialFile credentials() {
    return new CredentialFile(environment);
  }

  @Override
  public Optional<String> answer() {
    return environment.answer().line();
  }

  @Override
  public AnswerFormat format() {
    return format.get();
  }

  @Override
  public List<String> offered(RemoteOperation operation, String input) {
    boolean isOfVms = operation.path().startsWith("/api/vm/");
    boolean isOfK8s = operation.path().startsWith("/api/k8s/");
    Optional<String> kind =
        isOfVms ? Optional.of("vm") : isOfK8s ? Optional.of("k8s") : Optional.empty();
    try {
      return switch (input) {
        case CLUSTER -> known().clusters(kind);
        case NAME -> isOfK8s ? known().clusters(kind) : List.of();
        case NODE ->
            known().nodes(Optional.empty()).stream().map(KnownNames.Node::address).toList();
        default -> List.of();
      };
    } catch (RefusedException e) {
      return List.of();
    }
  }

  @Override
  public void learn(RemoteOperation operation, JsonObject answer) throws RefusedException {
    if (operation.command().equals("whoami")) {
      known().learnWhoami(answer);
    }
  }

  private KnownNames known() throws RefusedException {
    return new KnownNames(
        new ConfigFolder(environment), options.profile(environment, credentials()));
  }

  /** A token belongs to one organization, so the organization need not be typed. */
  @Override
  public boolean knows(String argument) {
    return argument.equals(ORGANIZATION);
  }

  @Override
  public Optional<String> known(String input, Service service) throws RefusedException {
    return switch (input) {
      case ORGANIZATION ->
          Optional.of(service.call("GET", "/api/whoami", null).getString("org_id"));
      case CLUSTER ->
          Optional.ofNullable(environment.variables().get("BOURSE_CLUSTER"))
              .filter(name -> !name.isBlank());
      default -> Optional.empty();
    };
  }
}
