package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.admin.AdminCommand;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import picocli.CommandLine;

/** What a command line of {@code bourse admin} came to. */
public record AdminRun(int exitCode, String out, String err) {
  public static AdminRun of(Map<String, String> environment, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = AdminCommand.create(environment);
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int exitCode = line.execute(arguments);
    return new AdminRun(exitCode, out.toString(), err.toString());
  }

  /** As the first operator of a service. */
  public static AdminRun on(RunningBourse bourse, String... arguments) {
    return of(
        Map.of(
            "BOURSE_URL", bourse.service().baseUrl(),
            "BOURSE_OPERATOR_TOKEN", bourse.operatorToken()),
        arguments);
  }

  /** What it printed; it must have done its work. */
  public JsonObject json() {
    assertEquals(0, exitCode, err);
    return new JsonObject(out);
  }
}
