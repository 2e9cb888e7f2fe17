package dev.bourse.access;

import dev.bourse.keyring.Keyring;
import dev.bourse.keyring.SharedSecrets;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreRefusedException;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;

/**
 * Secrets that are generated once per store and shared by all its processes: HMAC keys for values
 * that one process hands out and another one verifies. With a secret key ({@link SharedSecrets})
 * they are encrypted; a secret that was stored before there was a key stays in use and is encrypted
 * too.
 */
public final class ServiceSecrets {
  private static final int BYTES = 32;

  private static final String KIND = "service/";

  private final Database database;
  private final SharedSecrets shared;
  private final RandomGenerator random;
  private final Map<String, byte[]> known = new ConcurrentHashMap<>();

  /**
   * Creates secrets that are not encrypted, for a service without a secret key.
   *
   * @param random a cryptographic source
   */
  public ServiceSecrets(Database database, RandomGenerator random) {
    this(database, new SharedSecrets(database, Keyring.empty(), Clock.systemUTC()), random);
  }

  /**
   * @param random a cryptographic source
   */
  public ServiceSecrets(Database database, SharedSecrets shared, RandomGenerator random) {
    this.database = database;
    this.shared = shared;
    this.random = random;
  }

  /** Returns the secret with a name, 32 bytes; generated on first use. */
  public Future<byte[]> get(String name) {
    byte[] found = known.get(name);
    if (found != null) {
      return Future.succeededFuture(found.clone());
    }
    byte[] made = new byte[BYTES];
    random.nextBytes(made);
    return (shared.isEnabled() ? encrypted(name, made) : plain(name, made))
        .map(
            agreed -> {
              known.put(name, agreed);
              return agreed.clone();
            });
  }

  private Future<byte[]> plain(String name, byte[] made) {
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
        .compose(stored -> findPlain(name))
        .map(Optional::orElseThrow);
  }

  private Future<Optional<byte[]>> findPlain(String name) {
    return database.readFirst(
        "SELECT secret FROM service_secret WHERE name = ?",
        List.of(name),
        row -> HexFormat.of().parseHex(row.text("secret")));
  }

  private Future<byte[]> encrypted(String name, byte[] made) {
    return findEncrypted(name)
        .compose(
            found ->
                found.isPresent()
                    ? Future.succeededFuture(found)
                    : findPlain(name)
                        .compose(before -> encrypt(name, before.orElse(made)))
                        .compose(stored -> findEncrypted(name)))
        .map(
            agreed ->
                agreed.orElseThrow(
                    () ->
                        StoreRefusedException.of(
                            """
                            row %s of encrypted_secret was altered; delete it to generate a new \
                            secret, which invalidates the values signed with it\
                            """,
                            KIND + name)));
  }

  private Future<Optional<byte[]>> findEncrypted(String name) {
    return shared.list(KIND).map(all -> Optional.ofNullable(all.get(KIND + name)));
  }

  /** Stores a secret encrypted and deletes its plain copy, unless another process was first. */
  private Future<Void> encrypt(String name, byte[] secret) {
    return database.commit(
        List.of(
            shared.storing(KIND + name, secret),
            Statement.of("DELETE FROM service_secret WHERE name = ?", name)));
  }
}
