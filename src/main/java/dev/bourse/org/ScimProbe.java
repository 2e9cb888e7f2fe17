package dev.bourse.org;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import java.io.IOException;
import java.util.List;

/**
 * Checks the directory by looking up one nonexistent member in the same way as a roster. Blocks.
 */
public final class ScimProbe {
  /**
   * A name that is unlikely to exist; an answer with a user would also prove that the directory
   * works.
   */
  private static final Member NOBODY =
      Member.joining("bourse", "bourse-doctor", "doctor@bourse.invalid", "", 0);

  private ScimProbe() {}

  /**
   * Queries a directory within its own time-out.
   *
   * @throws IOException that says why it cannot be used
   */
  public static void look(ScimConfig config) throws IOException {
    Vertx vertx = Vertx.vertx();
    try {
      HttpClient client = ScimDirectory.client(vertx, config);
      ScimLookup lookup = new ScimLookup(vertx, client, config, List.of(NOBODY));
      vertx.getOrCreateContext().runOnContext(start -> lookup.start());
      Future<Void> ended = lookup.ended();
      ended.await();
    } catch (RuntimeException e) {
      throw failed(config, e);
    } catch (Exception e) {
      // Socket failures arrive undeclared.
      throw failed(config, e);
    } finally {
      vertx.close().await();
    }
  }

  private static IOException failed(ScimConfig config, Exception e) {
    return new IOException(config.url() + ": " + e.getMessage(), e);
  }
}
