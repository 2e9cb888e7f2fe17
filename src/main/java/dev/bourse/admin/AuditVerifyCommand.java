package dev.bourse.admin;

import dev.bourse.command.CommandAction;
import dev.bourse.command.OperationCommand;
import dev.bourse.command.RemoteOperation;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import dev.bourse.remote.Table;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * {@code audit verify}: verifies both seal chains of a trail from the first batch to the last, some
 * batches a call, and prints the first faulty batch and row. Without an organization it verifies
 * the platform's trail and those of all organizations, one after the other, and continues past a
 * faulty one.
 */
final class AuditVerifyCommand implements Callable<Integer> {
  /** The platform's trail, as the operation names it. */
  private static final String PLATFORM = "_platform";

  private static final String ORGS = "/api/operator/orgs?limit=500";

  /** Attempts of one call while the service is busy; with rate limits, some minutes. */
  private static final int TRIES = 10;

  /** The longest single wait, even if the service asks for a longer one. */
  private static final long LONGEST_WAIT_SECONDS = 60;

  private final AdminCommand admin;
  private final RemoteOperation operation;
  private final CommandSpec spec;

  AuditVerifyCommand(AdminCommand admin, RemoteOperation operation) {
    this.admin = admin;
    this.operation = operation;
    this.spec =
        CommandSpec.wrapWithoutInspection(this)
            .name(operation.verb())
            .mixinStandardHelpOptions(true);
    spec.usageMessage()
        .description(
            "Proves an organization's trail whole, or names the first batch and row that differ.",
            "Without ORG: the platform's trail and that of every organization.",
            "",
            """
            Keep the heads it prints: whoever can write to the store could seal a changed \
            trail anew, but not so that it has the old heads.\
            """);
    spec.addPositional(
        PositionalParamSpec.builder(OperationCommand.argument(operation.arguments().get(0), 0))
            .required(false)
            .arity("0..1")
            .build());
  }

  CommandSpec spec() {
    return spec;
  }

  @Override
  public Integer call() {
    return CommandAction.run(
        spec,
        (out, err) -> {
          Service service = admin.service();
          String org = spec.positionalParameters().get(0).getValue();
          boolean whole =
              org == null ? verifyAll(service, out, err) : verify(service, org, "", out, err);
          return whole ? ExitCode.OK : ExitCode.NOT_WHOLE;
        });
  }

  /** Verifies one page of organizations at a time, so that memory stays bounded. */
  private boolean verifyAll(Service service, PrintWriter out, PrintWriter err)
      throws RefusedException {
    boolean whole = verify(service, PLATFORM, PLATFORM + ' ', out, err);
    long trails = 1;
    boolean more = true;
    String after = "";
    while (more) {
      JsonObject page = callWithRetries(service, ORGS + after, err);
      for (Object listed : page.getJsonArray("orgs")) {
        String org = ((JsonObject) listed).getString("org_id");
        whole &= verify(service, org, org + ' ', out, err);
        out.flush();
        trails++;
      }
      more = page.getBoolean("more");
      if (more) {
        after = "&after=" + Service.encoded(page.getString("next"));
      }
    }
    out.printf("trails: %d, %s%n", trails, whole ? "all whole" : "NOT ALL WHOLE");
    return whole;
  }

  /**
   * Retries a call after the wait that the service asks for: many trails take more calls than the
   * rate limit allows in a minute.
   */
  private static JsonObject callWithRetries(Service service, String path, PrintWriter err)
      throws RefusedException {
    for (int tries = 1; ; tries++) {
      try {
        return service.call("GET", path, null);
      } catch (RefusedException refused) {
        if (!refused.isTransient() || refused.status() == 0 || tries == TRIES) {
          throw refused;
        }
        long seconds = Math.min(LONGEST_WAIT_SECONDS, Math.max(1, refused.retryAfterSeconds()));
        err.printf("waiting for %d s: %s%n", seconds, refused.error());
        err.flush();
        try {
          TimeUnit.SECONDS.sleep(seconds);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw refused;
        }
      }
    }
  }

  /**
   * @param shown prefix of each line of the report
   */
  private boolean verify(
      Service service, String org, String shown, PrintWriter out, PrintWriter err)
      throws RefusedException {
    boolean whole = true;
    for (String kind : new String[] {"writes", "reads"}) {
      whole &= verifyChain(service, org, kind, shown + kind, out, err);
    }
    return whole;
  }

  private boolean verifyChain(
      Service service, String org, String kind, String shown, PrintWriter out, PrintWriter err)
      throws RefusedException {
    String path =
        operation
            .path()
            .replace('{' + operation.arguments().get(0).name() + '}', Service.encoded(org));
    long batches = 0;
    long rows = 0;
    long purged = 0;
    Object after = 0;
    while (true) {
      JsonObject answer = callWithRetries(service, path + "?kind=" + kind + "&after=" + after, err);
      batches += answer.getLong("batches");
      rows += answer.getLong("rows");
      purged += answer.getLong("purged_batches");
      JsonObject fault = answer.getJsonObject("fault");
      if (fault != null) {
        out.println(shown + ": NOT WHOLE");
        out.print(Table.fields(fault));
        return false;
      }
      after = answer.getValue("next");
      if (after == null) {
        JsonObject head = answer.getJsonObject("head");
        out.printf(
            "%s: whole; rows: %d, batches: %d, purged: %d, sealed up to id: %d%s%n",
            shown,
            rows,
            batches,
            purged,
            answer.getLong("sealed_through"),
            head == null ? "" : "; head " + head.getString("seal"));
        return true;
      }
      err.printf("%s: rows: %d, batches: %d so far%n", shown, rows, batches);
      err.flush();
    }
  }
}
