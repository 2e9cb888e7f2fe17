package dev.bourse.keyring;

import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreRefusedException;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rows of encrypted secrets, by name. A name starts with the purpose of the secret and a slash. The
 * first writer of a name determines its secret; the others read it.
 */
public final class SharedSecrets {
  private static final Logger LOG = LoggerFactory.getLogger(SharedSecrets.class);

  /** The table, which is part of each row's associated data. */
  public static final String TABLE = "encrypted_secret";

  /** Rows re-encrypted in one step. */
  private static final int STEP = 100;

  private final Database database;
  private final Keyring keyring;
  private final Clock clock;

  /** Rows already reported: an undecryptable row must not flood the log. */
  private final Set<String> reported = ConcurrentHashMap.newKeySet();

  private record Stored(String name, Encrypted encrypted) {}

  public SharedSecrets(Database database, Keyring keyring, Clock clock) {
    this.database = database;
    this.keyring = keyring;
    this.clock = clock;
  }

  /** Whether this process has a secret key and so can share secrets. */
  public boolean isEnabled() {
    return !keyring.isEmpty();
  }

  /**
   * Checks that this process can decrypt every row.
   *
   * @param giveUp ids of lost keys; their rows are deleted
   * @return fails with {@link StoreRefusedException} when the key of a row is missing
   */
  public Future<Void> check(Set<String> giveUp) {
    return forget(giveUp)
        .compose(
            forgotten ->
                database.read(
                    "SELECT key_id, COUNT(*) AS secrets FROM encrypted_secret GROUP BY key_id",
                    List.of(),
                    row -> Map.entry(row.text("key_id"), row.integer("secrets"))))
        .map(
            found -> {
              Map<String, Long> wanted = new TreeMap<>();
              found.stream()
                  .filter(one -> !keyring.ids().contains(one.getKey()))
                  .forEach(one -> wanted.put(one.getKey(), one.getValue()));
              if (!wanted.isEmpty()) {
                throw new StoreRefusedException(refusal(wanted, keyring), null);
              }
              return null;
            });
  }

  /** Explains which keys are missing and the ways out. */
  static String refusal(Map<String, Long> wanted, Keyring given) {
    String ids = String.join(",", wanted.keySet());
    return """
    %s secrets of the store are encrypted with secret key %s, which is not given (%s); give it \
    in secret.key or secret.key-file, after the one that is to encrypt; when it is lost, \
    --set secret.give-up=%s deletes what only it can read: members go on with the tokens \
    they have, and new keys are made\
    """
        .formatted(
            wanted.values().stream().mapToLong(Long::longValue).sum(),
            ids,
            given.isEmpty() ? "none is" : "given: " + String.join(", ", given.ids()),
            ids);
  }

  private Future<Void> forget(Set<String> giveUp) {
    if (giveUp.isEmpty()) {
      return Future.succeededFuture();
    }
    List<String> ids = InList.of(List.copyOf(giveUp));
    return database
        .commit(
            List.of(
                new Statement(
                    "DELETE FROM encrypted_secret WHERE key_id IN " + InList.marks(ids),
                    new ArrayList<>(ids),
                    null,
                    0)))
        .onSuccess(
            done ->
                LOG.warn(
                    "secrets encrypted with {} were deleted because secret.give-up is set",
                    giveUp));
  }

  /**
   * The secrets of one kind by name, in the order of names. Rows that cannot be decrypted are left
   * out: damaged ones, and ones with a key that only other processes have so far.
   *
   * @param kind the purpose in the name, with the slash
   */
  public Future<Map<String, byte[]>> list(String kind) {
    return database
        .read(
            """
            SELECT name, key_id, ciphertext FROM encrypted_secret
            WHERE name >= ? AND name < ? ORDER BY name\
            """,
            // 0 is the character after the slash, so this is past every name of the kind.
            List.of(kind, kind.substring(0, kind.length() - 1) + '0'),
            SharedSecrets::stored)
        .map(
            rows -> {
              Map<String, byte[]> secrets = new LinkedHashMap<>();
              rows.forEach(
                  row -> decrypted(row).ifPresent(secret -> secrets.put(row.name(), secret)));
              return secrets;
            });
  }

  private Optional<byte[]> decrypted(Stored row) {
    try {
      return Optional.of(keyring.decrypt(place(row.name()), row.encrypted()));
    } catch (DecryptionException e) {
      if (reported.add(row.name() + " " + row.encrypted().keyId())) {
        LOG.warn("a shared secret cannot be used: {}", e.getMessage());
      }
      return Optional.empty();
    }
  }

  private static Stored stored(Row row) {
    return new Stored(row.text("name"), new Encrypted(row.text("key_id"), row.text("ciphertext")));
  }

  /** The associated data of a row. */
  static String place(String name) {
    return TABLE + "/" + name;
  }

  /** Stores a secret, unless the name has one. */
  public Statement storing(String name, byte[] secret) {
    Encrypted encrypted = keyring.encrypt(place(name), secret);
    return Statement.of(
        """
        INSERT INTO encrypted_secret (name, key_id, ciphertext, made_at) VALUES (?, ?, ?, ?)
        ON CONFLICT (name) DO NOTHING\
        """,
        name,
        encrypted.keyId(),
        encrypted.ciphertext(),
        clock.millis());
  }

  /** Deletes a secret. */
  public static Statement deleting(String name) {
    return Statement.of("DELETE FROM encrypted_secret WHERE name = ?", name);
  }

  /**
   * Re-encrypts one batch of rows from other keys to the first key. Concurrent processes may do the
   * same, or have another first key during a rotation: the row stays readable to all processes with
   * both keys.
   *
   * @return whether rows remain
   */
  public Future<Boolean> reencrypt() {
    if (keyring.ids().size() < 2) {
      return Future.succeededFuture(false);
    }
    List<String> former = InList.of(keyring.ids().stream().skip(1).toList());
    return database
        .read(
            """
            SELECT name, key_id, ciphertext FROM encrypted_secret WHERE key_id IN %s
            ORDER BY name LIMIT %s\
            """
                .formatted(InList.marks(former), STEP),
            former,
            SharedSecrets::stored)
        .compose(
            rows -> {
              List<Statement> updates = new ArrayList<>();
              rows.forEach(
                  row -> decrypted(row).ifPresent(secret -> updates.add(replacing(row, secret))));
              return updates.isEmpty()
                  ? Future.succeededFuture(false)
                  : database.commit(updates).map(stored -> rows.size() == STEP);
            });
  }

  /** Changes nothing if the row was replaced or deleted meanwhile. */
  private Statement replacing(Stored row, byte[] secret) {
    Encrypted encrypted = keyring.encrypt(place(row.name()), secret);
    return Statement.of(
        """
        UPDATE encrypted_secret SET key_id = ?, ciphertext = ? WHERE name = ? AND ciphertext = ?\
        """,
        encrypted.keyId(),
        encrypted.ciphertext(),
        row.name(),
        row.encrypted().ciphertext());
  }
}
