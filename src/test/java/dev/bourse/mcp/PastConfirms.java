package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.store.Database;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.Random;

/** Confirm tokens as a service issued them some time ago. */
public final class PastConfirms {
  private final ConfirmTokens confirms;

  /**
   * @param secret the service's
   * @param clock the time of issue
   */
  public PastConfirms(byte[] secret, Database database, Clock clock) {
    confirms = new ConfirmTokens(secret, new McpStore(database), clock, new Random(1));
  }

  /** The token that a preview issued then. */
  public String issue(
      Principal caller, String tool, JsonObject arguments, String subject, long version) {
    return confirms.issue(caller, tool, arguments, subject, version).token();
  }

  /** The lifetime of a token. */
  public static long validMillis() {
    return ConfirmTokens.VALID_MILLIS;
  }

  /** The lifetime of a session. */
  public static long sessionMillis() {
    return HandshakeSessions.VALID_MILLIS;
  }
}
