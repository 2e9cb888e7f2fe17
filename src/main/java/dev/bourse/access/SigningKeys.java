package dev.bourse.access;

import dev.bourse.access.PrivateKeys.Kept;
import dev.bourse.keyring.Keyring;
import dev.bourse.keyring.SharedSecrets;
import dev.bourse.store.Database;
import dev.bourse.store.Mirror;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.auth.JWTOptions;
import io.vertx.ext.auth.jwt.JWTAuth;
import io.vertx.ext.auth.jwt.JWTAuthOptions;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The signing keys of members' tokens. The public half of each key is a row of the store, so that
 * every process verifies the tokens of all others without copying files. With a secret key ({@link
 * SharedSecrets}) the private half is an encrypted row, and all processes sign with the same key;
 * without one it never leaves the data folder of the process that made it.
 *
 * <p>Processes that make a shared key at the same moment make two: the newer one signs, and the
 * older one is retired like any other. A process that cannot decrypt the newest key, because it
 * does not have the secret key yet, signs with the newest one it can decrypt, and makes one if
 * there is none.
 *
 * <p>A key signs for {@code access.key-rotation}. Its successor is published a minute before it
 * signs, so that every process has read the key before it sees a signature. The old key verifies
 * until the last token it signed has expired.
 */
public final class SigningKeys implements Mirror {
  private static final Logger LOG = LoggerFactory.getLogger(SigningKeys.class);

  /** The topic of changes of keys; the key is the thumbprint. */
  public static final String CHANGED = "signing-keys";

  /** The longest lifetime of a token, after which a retired key need not verify any more. */
  static final long LONGEST_TOKEN_MILLIS = Duration.ofDays(30).toMillis();

  /**
   * Allows for the job that rotates keys, which runs once an hour and waits for an unreachable
   * store.
   */
  private static final long SLACK_MILLIS = Duration.ofDays(1).toMillis();

  private static final long SETTLE_MILLIS = 60_000;

  /** ECDSA over P-256 with SHA-256, the only accepted algorithm. */
  static final String ALGORITHM = "ES256";

  /** A key whose private half this process has. */
  private record Own(SigningKey key, String kid, long madeAtMillis) {}

  private final Vertx vertx;
  private final SigningKeyStore store;
  private final SigningKeyFolder folder;
  private final PrivateKeys kept;
  private final long rotationMillis;
  private final Clock clock;

  /** Newest first; replaced as a whole. */
  private volatile List<Own> own = List.of();

  private volatile Map<String, JWTAuth> verifying = Map.of();
  private volatile JsonObject published = new JsonObject().put("keys", new JsonArray());
  private final SerialReadings readings = new SerialReadings();

  /**
   * Creates keys that are not shared.
   *
   * @param data the folder in which only this process stores its private keys
   */
  public SigningKeys(Vertx vertx, Database database, Path data, AccessConfig config, Clock clock) {
    this(vertx, database, data, new SharedSecrets(database, Keyring.empty(), clock), config, clock);
  }

  /**
   * @param data the folder in which this process stores its private keys while they are not shared;
   *     its keys are moved to the store once they are shared
   */
  public SigningKeys(
      Vertx vertx,
      Database database,
      Path data,
      SharedSecrets secrets,
      AccessConfig config,
      Clock clock) {
    this.vertx = vertx;
    this.store = new SigningKeyStore(database);
    this.folder = new SigningKeyFolder(vertx, data);
    this.kept = secrets.isEnabled() ? new SharedSigningKeys(secrets) : folder;
    this.rotationMillis = config.keyRotationMillis();
    this.clock = clock;
  }

  /**
   * Reads this process's keys, makes one if it cannot sign, and reads the keys of other processes.
   */
  public Future<Void> start() {
    return (kept.isShared() ? share() : Future.<Void>succeededFuture())
        .compose(shared -> Future.all(kept.read(), store.listMadeAt()))
        .compose(read -> adopt(read.resultAt(0), read.resultAt(1)))
        .compose(adopted -> isDue() ? make() : Future.succeededFuture())
        .compose(made -> load());
  }

  /** Moves the keys of the data folder to the shared storage. */
  private Future<Void> share() {
    return Future.all(folder.read(), store.listMadeAt())
        .compose(
            read -> {
              List<Kept> files = read.resultAt(0);
              Future<Void> shared = Future.succeededFuture();
              for (Own key : usable(files, read.resultAt(1))) {
                shared = shared.compose(done -> publish(key));
              }
              for (Kept file : files) {
                shared = shared.compose(done -> folder.forget(file.key()));
              }
              return files.isEmpty()
                  ? shared
                  : shared.onSuccess(
                      done -> LOG.info("moved {} signing keys to the store", files.size()));
            });
  }

  private Future<Void> adopt(List<Kept> all, Map<String, Long> madeAt) {
    List<Own> found = usable(all, madeAt);
    Future<Void> published = Future.succeededFuture();
    for (Own key : found) {
      published =
          published.compose(
              done ->
                  store.publish(
                      key.key(), key.madeAtMillis(), expiresAt(key.madeAtMillis()), List.of()));
    }
    return published.onSuccess(done -> setOwn(found));
  }

  private List<Own> usable(List<Kept> all, Map<String, Long> madeAt) {
    List<Own> found = new ArrayList<>();
    for (Kept one : all) {
      String kid = one.key().kid();
      long made = madeAt.getOrDefault(kid, Math.min(one.writtenAtMillis(), clock.millis()));
      if (expiresAt(made) > clock.millis()) {
        found.add(new Own(one.key(), kid, made));
      }
    }
    return found;
  }

  private Future<Void> publish(Own key) {
    return kept.keep(key.key())
        .compose(
            along ->
                store.publish(key.key(), key.madeAtMillis(), expiresAt(key.madeAtMillis()), along));
  }

  private long expiresAt(long madeAtMillis) {
    return madeAtMillis + rotationMillis + LONGEST_TOKEN_MILLIS + SLACK_MILLIS;
  }

  private synchronized void setOwn(List<Own> keys) {
    List<Own> sorted = new ArrayList<>(keys);
    // All processes have to choose the same key for signing.
    sorted.sort(Comparator.comparingLong(Own::madeAtMillis).reversed().thenComparing(Own::kid));
    own = List.copyOf(sorted);
  }

  private boolean isDue() {
    List<Own> keys = own;
    return keys.isEmpty() || keys.get(0).madeAtMillis() + rotationMillis <= clock.millis();
  }

  private Future<Void> make() {
    long now = clock.millis();
    return vertx
        .executeBlocking(SigningKey::generate)
        .map(key -> new Own(key, key.kid(), now))
        .compose(
            made ->
                publish(made)
                    .onSuccess(
                        stored -> {
                          List<Own> keys = new ArrayList<>(own);
                          keys.add(made);
                          setOwn(keys);
                        }));
  }

  /** Reads the keys of all processes again, after any read in progress. */
  public Future<Void> load() {
    return readings.next(
        () ->
            readShared()
                .compose(read -> store.listPublic(clock.millis()))
                .map(
                    keys -> {
                      publish(keys);
                      return null;
                    }));
  }

  /** Reads the private halves that other processes have made or retired. */
  private Future<Void> readShared() {
    if (!kept.isShared()) {
      return Future.succeededFuture();
    }
    return Future.all(kept.read(), store.listMadeAt())
        .map(
            read -> {
              List<Own> found = usable(read.resultAt(0), read.resultAt(1));
              // Signing with a retired key is better than not signing, because it verifies for a
              // while.
              if (!found.isEmpty()) {
                setOwn(found);
              }
              return null;
            });
  }

  /** Publishes keys, newest first; keeps existing verifiers, because making one is expensive. */
  private void publish(List<JsonObject> keys) {
    Map<String, JWTAuth> known = verifying;
    Map<String, JWTAuth> read = new LinkedHashMap<>();
    JsonArray jwks = new JsonArray();
    for (JsonObject jwk : keys) {
      String kid = jwk.getString("kid");
      JWTAuth verifier = known.get(kid);
      read.put(kid, verifier == null ? verifier(jwk) : verifier);
      jwks.add(jwk);
    }
    verifying = Map.copyOf(read);
    published = new JsonObject().put("keys", jwks);
  }

  /** Reads keys again; a new one is the newest. */
  @Override
  public Future<Refreshed> refresh(List<String> kids) {
    return readings.next(
        () ->
            readShared()
                .compose(read -> store.listPublic(kids, clock.millis()))
                .map(found -> put(kids, found)));
  }

  private Refreshed put(List<String> kids, List<JsonObject> found) {
    Set<String> changed = new HashSet<>();
    Set<String> gone = new HashSet<>(kids);
    List<JsonObject> next = new ArrayList<>();
    for (JsonObject jwk : found) {
      String kid = jwk.getString("kid");
      gone.remove(kid);
      if (!verifying.containsKey(kid)) {
        changed.add(kid);
        next.add(jwk);
      }
    }
    for (Object held : published.getJsonArray("keys")) {
      JsonObject jwk = (JsonObject) held;
      if (gone.contains(jwk.getString("kid"))) {
        changed.add(jwk.getString("kid"));
      } else {
        next.add(jwk);
      }
    }
    if (!changed.isEmpty()) {
      publish(next);
    }
    return new Refreshed(changed, Set.of());
  }

  /** Compares all keys at once, because they are few enough for one query. */
  @Override
  public Comparison compare() {
    AtomicBoolean isOver = new AtomicBoolean();
    return () ->
        isOver.get()
            ? Future.succeededFuture(Optional.empty())
            : store
                .listPublic(clock.millis())
                .map(
                    stored -> {
                      isOver.set(true);
                      Set<String> differing = new HashSet<>(verifying.keySet());
                      for (JsonObject jwk : stored) {
                        String kid = jwk.getString("kid");
                        if (!differing.remove(kid)) {
                          differing.add(kid);
                        }
                      }
                      return Optional.of(List.copyOf(differing));
                    });
  }

  private JWTAuth verifier(JsonObject jwk) {
    return JWTAuth.create(
        vertx,
        new JWTAuthOptions()
            // The time comes from the service's clock.
            .setJWTOptions(new JWTOptions().setAlgorithm(ALGORITHM).setIgnoreExpiration(true))
            .addJwk(jwk));
  }

  /**
   * Makes the next key when it is due, and deletes retired and expired ones.
   *
   * @param now confirmed time
   * @return false, because no work is left
   */
  public Future<Boolean> step(long now) {
    return (isDue() ? make() : Future.<Void>succeededFuture())
        .compose(made -> retire(now))
        .compose(retired -> store.deleteExpired(now))
        .compose(deleted -> load())
        .map(false);
  }

  private Future<Void> retire(long now) {
    Own signing = signing();
    Future<Void> retired = Future.succeededFuture();
    List<Own> left = new ArrayList<>(own);
    for (Own key : own) {
      if (key.madeAtMillis() < signing.madeAtMillis()) {
        left.remove(key);
        retired =
            retired
                .compose(
                    done ->
                        store.retire(
                            key.kid(), now, now + LONGEST_TOKEN_MILLIS, kept.deletions(key.key())))
                .compose(done -> kept.forget(key.key()));
      }
    }
    return retired.onSuccess(done -> setOwn(left));
  }

  /** Returns the newest key that others have had time to read; if there is only one, that key. */
  private Own signing() {
    List<Own> keys = own;
    if (keys.isEmpty()) {
      throw new IllegalStateException("not started");
    }
    long settled = clock.millis() - SETTLE_MILLIS;
    for (Own key : keys) {
      if (key.madeAtMillis() <= settled) {
        return key;
      }
    }
    return keys.get(keys.size() - 1);
  }

  /**
   * Signs claims.
   *
   * @param type the header's {@code typ}
   */
  String sign(JsonObject claims, String type) {
    Own own = signing();
    JsonObject header =
        new JsonObject().put("typ", type).put("alg", ALGORITHM).put("kid", own.kid());
    return own.key().sign(header, claims);
  }

  /** Returns the verifier of a key's signatures; null if there is no such key. */
  @Nullable JWTAuth find(String kid) {
    return verifying.get(kid);
  }

  /** Returns every public key, as a JSON Web Key Set (RFC 7517 section 5). */
  public JsonObject jwks() {
    return published.copy();
  }
}
