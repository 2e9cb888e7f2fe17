package dev.bourse.access;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;

/**
 * Secrets made once for a store, on which every process that serves it agrees: keys of HMACs over
 * what one process hands out and another takes back.
 */
public final class ServiceSecrets {
  private static final int BYTES = 32;

  private final Database database;
  private final RandomGenerator random;
  private final Map<String, byte[]> known = new ConcurrentHashMap<>();

  /**
   * @param random a cryptographic source
   */
  public ServiceSecrets(Database database, RandomGenerator random) {
    this.database = database;
    this.random = random;
  }

  /** The secret of a name, 32 bytes; made when no process has asked for it before. */
  public Future<byte[]> get(String name) {
    byte[] found = known.get(name);
    if (found != null) {
      return Future.succeededFuture(found.clone());
    }
    byte[] made = new byte[BYTES];
    random.nextBytes(made);
    return database
        .commit(
            List.of(
                Statement.of(
                    """
                    INSERT INTO service_secret (name, secret) VALUES (?, ?)
                    ON CONFLICT (name) DO NOTHING\
                    """,
                    name,
                    HexFormat.of().formatHex(made))))
        .compose(
            stored ->
                database.read(
                    "SELECT secret FROM service_secret WHERE name = ?",
                    List.of(name),
                    row -> HexFormat.of().parseHex(row.text("secret"))))
        .map(
            rows -> {
              known.put(name, rows.get(0));
              return rows.get(0).clone();
            });
  }
}
