package dev.bourse.client.capacity;

import dev.bourse.client.account.MemberCaller;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.command.AnswerFormat;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A command that declares: it says what would happen, asks, and does it. */
abstract class DeclarationCommand extends ClusterCommand {
  private static final String PREVIEW = CAPACITY + "/preview";

  @Option(names = "--dry-run", description = "Say what would happen, and write nothing.")
  private boolean isDryRun;

  @Option(
      names = {"-y", "--yes"},
      description = "Do it without asking.")
  private boolean isSure;

  @Mixin private final MemberCaller.FormatOptions format = new MemberCaller.FormatOptions();

  DeclarationCommand(CommandEnvironment environment) {
    super(environment);
  }

  /** What is to be declared, but for the version; from what stands. */
  abstract JsonObject declaration(JsonObject capacity) throws Refused;

  /** What follows once it is declared. */
  void after(Service service, JsonObject capacity) throws Refused {}

  @Override
  protected final void run() throws Refused {
    Service service = signedIn();
    JsonObject capacity = capacity(service);
    JsonObject declaration =
        declaration(capacity)
            .put("cluster", capacity.getString("cluster"))
            .put("expected_version", capacity.getLong("version"));
    JsonObject preview = service.call("POST", PREVIEW, declaration);
    DeclaredChange change = new DeclaredChange(capacity, declaration, preview);
    requireAccepted(change);
    if (isDryRun && format.get().form() != AnswerFormat.Form.table) {
      out().print(format.get().print(preview));
      return;
    }
    change.lines().forEach(line -> (isDryRun ? out() : err()).println(line));
    err().flush();
    if (isDryRun) {
      return;
    }
    requireWanted();
    JsonObject declared = new Declaring(service, environment()).make(declaration);
    if (format.get().form() == AnswerFormat.Form.table) {
      out().print("declared, version " + declared.getLong("version") + '\n');
      out().flush();
    } else {
      out().print(format.get().print(declared));
    }
    after(service, declared);
  }

  private static void requireAccepted(DeclaredChange change) throws Refused {
    Optional<JsonObject> refusal = change.refusal();
    if (refusal.isEmpty()) {
      return;
    }
    String error = refusal.get().getString("error");
    String detail = Text.plain(error + ": " + refusal.get().getString("detail"));
    throw new Refused(
        ExitCode.REFUSED,
        switch (error) {
          case "no-ssh-keys" ->
              detail + "\nRegister one first: bourse keys add ~/.ssh/id_ed25519.pub";
          case "bid-too-low", "price-above-maximum" -> detail + "\nSee bourse market feed";
          case "token-limit" -> detail + "\nSee bourse whoami for the limits of this token";
          default -> detail;
        });
  }

  private void requireWanted() throws Refused {
    if (isSure) {
      return;
    }
    err().print("Declare it? [y/N] ");
    err().flush();
    Optional<String> answer = environment().answer().line();
    if (answer.isEmpty()) {
      err().println();
      throw new Refused(
          ExitCode.USAGE,
          "nobody is there to be asked: --yes does it without, --dry-run says what it would do");
    }
    if (!answer.get().strip().toLowerCase(Locale.ROOT).matches("y|yes")) {
      throw new Refused(ExitCode.REFUSED, "nothing was declared");
    }
  }
}
