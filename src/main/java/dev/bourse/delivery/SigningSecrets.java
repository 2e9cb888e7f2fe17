package dev.bourse.delivery;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.keyring.SharedSecrets;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The secrets of receivers, encrypted in the store: keys that sign deliveries, or credentials that
 * a receiver demands. A secret is named by the id of its owner and a version.
 */
public final class SigningSecrets {
  /** Cached secrets, at 100 bytes each. */
  private static final long MAX_KNOWN = 10_000;

  private final SharedSecrets shared;
  private final String kind;
  private final RandomGenerator random;

  /** By name. The secret of a name never changes. */
  private final Cache<String, byte[]> known = Caffeine.newBuilder().maximumSize(MAX_KNOWN).build();

  /**
   * @param kind prefix of the names, with a slash at the end
   */
  public SigningSecrets(SharedSecrets shared, String kind, RandomGenerator random) {
    this.shared = shared;
    this.kind = kind;
    this.random = random;
  }

  /** Whether secrets can be stored, which takes a secret key. */
  public boolean isAvailable() {
    return shared.isEnabled();
  }

  /**
   * Fails with {@code conflict} if secrets cannot be stored because the service has no secret key.
   *
   * @param what a noun for the secrets, used in the error
   */
  public void requireKey(String what) {
    if (!isAvailable()) {
      throw ApiException.of(
              ErrorCode.CONFLICT,
              "this service has no secret key to encrypt "
                  + what
                  + " with; ask its operators to set secret.key")
          .with("reason", "no-secret-key");
    }
  }

  /** Creates a random secret. */
  public byte[] mint() {
    byte[] secret = new byte[Signature.SECRET_BYTES];
    random.nextBytes(secret);
    return secret;
  }

  public Statement storing(String owner, int version, byte[] secret) {
    return shared.storing(name(owner, version), secret);
  }

  public Statement deleting(String owner, int version) {
    return SharedSecrets.deleting(name(owner, version));
  }

  /** Returns the statements that delete the current secret and the previous one. */
  public List<Statement> deletingAll(String owner, int version) {
    return List.of(deleting(owner, version), deleting(owner, version - 1));
  }

  private String name(String owner, int version) {
    return kind + owner + "/" + version;
  }

  /**
   * Returns the valid secrets, newest first; fewer if this process lacks the key of some.
   *
   * @param oldUntilMillis until when the previous version is valid too; null if it is not
   */
  public Future<List<byte[]>> inForce(
      String owner, int version, @Nullable Long oldUntilMillis, long nowMillis) {
    List<String> names = new ArrayList<>();
    names.add(name(owner, version));
    if (oldUntilMillis != null && nowMillis < oldUntilMillis) {
      names.add(name(owner, version - 1));
    }
    Map<String, byte[]> found = known.getAllPresent(names);
    return (found.size() == names.size()
            ? Future.succeededFuture(found)
            : shared.list(kind + owner + "/").onSuccess(known::putAll))
        .map(secrets -> names.stream().filter(secrets::containsKey).map(secrets::get).toList());
  }
}
