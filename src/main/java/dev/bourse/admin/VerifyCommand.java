package dev.bourse.admin;

import dev.bourse.command.OperationCommand;
import dev.bourse.command.RemoteOperation;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import dev.bourse.remote.Table;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;

/**
 * {@code audit verify}: has both chains of a trail's seals verified from the first batch to the
 * last, so many batches a call, and tells the first batch and row at fault.
 */
final class VerifyCommand implements Callable<Integer> {
  private final AdminCommand admin;
  private final RemoteOperation operation;
  private final CommandSpec spec;

  VerifyCommand(AdminCommand admin, RemoteOperation operation) {
    this.admin = admin;
    this.operation = operation;
    this.spec =
        CommandSpec.wrapWithoutInspection(this)
            .name(operation.verb())
            .mixinStandardHelpOptions(true);
    spec.usageMessage()
        .description(
            "Proves an organization's trail whole, or names the first batch and row that differ.",
            "",
            """
            Keep the heads it prints: whoever can write to the store could seal a changed \
            trail anew, but not so that it has the old heads.\
            """);
    spec.addPositional(OperationCommand.argument(operation.arguments().get(0), 0));
  }

  CommandSpec spec() {
    return spec;
  }

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      Service service = admin.service();
      boolean whole = true;
      for (String kind : new String[] {"writes", "reads"}) {
        whole &= verify(service, kind, out, err);
      }
      return (whole ? ExitCode.OK : ExitCode.NOT_WHOLE).code();
    } catch (Refused refused) {
      err.println(refused.getMessage());
      return refused.exitCode().code();
    } finally {
      out.flush();
      err.flush();
    }
  }

  private boolean verify(Service service, String kind, PrintWriter out, PrintWriter err)
      throws Refused {
    String org = spec.positionalParameters().get(0).getValue();
    String path =
        operation
            .path()
            .replace('{' + operation.arguments().get(0).name() + '}', Service.encoded(org));
    long batches = 0;
    long rows = 0;
    long purged = 0;
    Object after = 0;
    while (true) {
      JsonObject answer = service.call("GET", path + "?kind=" + kind + "&after=" + after, null);
      batches += answer.getLong("batches");
      rows += answer.getLong("rows");
      purged += answer.getLong("purged_batches");
      JsonObject fault = answer.getJsonObject("fault");
      if (fault != null) {
        out.println(kind + ": NOT WHOLE");
        out.print(Table.fields(fault));
        return false;
      }
      after = answer.getValue("next");
      if (after == null) {
        JsonObject head = answer.getJsonObject("head");
        out.printf(
            "%s: whole; rows: %d, batches: %d, purged: %d, sealed up to id: %d%s%n",
            kind,
            rows,
            batches,
            purged,
            answer.getLong("sealed_through"),
            head == null ? "" : "; head " + head.getString("seal"));
        return true;
      }
      err.printf("%s: rows: %d, batches: %d so far%n", kind, rows, batches);
      err.flush();
    }
  }
}
