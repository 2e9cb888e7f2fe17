package dev.bourse.client.capacity;

import dev.bourse.client.account.MemberCommandContext;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.command.AnswerFormat;
import dev.bourse.command.ConfirmPrompt;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A command that declares: it previews the effect, asks, and writes. */
abstract class DeclarationCommand extends ClusterCommand {
  private static final String PREVIEW = CAPACITY + "/preview";

  @Option(names = "--dry-run", description = "Say what would happen, and write nothing.")
  private boolean isDryRun;

  @Option(
      names = {"-y", ConfirmPrompt.YES},
      description = ConfirmPrompt.YES_HELP)
  private boolean isSure;

  @Mixin
  private final MemberCommandContext.FormatOptions format =
      new MemberCommandContext.FormatOptions();

  DeclarationCommand(CommandEnvironment environment) {
    super(environment);
  }

  /** The new declaration without its version, based on the present capacity. */
  abstract JsonObject declaration(JsonObject capacity) throws RefusedException;

  /** Runs after the declaration was written. */
  void after(Service service, JsonObject capacity) throws RefusedException {}

  @Override
  protected final void run() throws RefusedException {
    Service service = signedIn();
    JsonObject capacity = capacity(service);
    JsonObject declaration =
        declaration(capacity)
            .put("cluster", capacity.getString("cluster"))
            .put("expected_version", capacity.getLong("version"));
    DeclaredChange change = change(service, capacity, declaration);
    if (isDryRun && format.get().form() != AnswerFormat.Form.table) {
      out().print(format.get().print(change.preview()));
      return;
    }
    if (isDryRun || isSure) {
      change.lines().forEach(line -> (isDryRun ? out() : err()).println(line));
      err().flush();
    } else {
      new ConfirmPrompt(environment().answer()::line, ", or --dry-run to see what it would do")
          .require(
              err(),
              change.question(),
              () -> change(service, capacity(service), declaration).question());
    }
    if (isDryRun) {
      return;
    }
    JsonObject declared = new DeclarationWriter(service, environment()).make(declaration);
    if (format.get().form() == AnswerFormat.Form.table) {
      out().print("declared, version " + declared.getLong("version") + '\n');
      out().flush();
    } else {
      out().print(format.get().print(declared));
    }
    after(service, declared);
  }

  /** The change from the present capacity to the declaration. */
  private DeclaredChange change(Service service, JsonObject capacity, JsonObject declaration)
      throws RefusedException {
    JsonObject preview = service.call("POST", PREVIEW, declaration);
    DeclaredChange change =
        new DeclaredChange(capacity, declaration, preview, environment().clock().instant());
    change.requireAccepted();
    return change;
  }
}
