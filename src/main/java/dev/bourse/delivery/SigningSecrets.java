package dev.bourse.delivery;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.bourse.core.ApiError;
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
 * The secrets of those that something is delivered to, encrypted in the store: what deliveries are
 * signed with, or what a receiver demands. A secret has the id of its owner and a version.
 */
public final class SigningSecrets {
  /** Of owners that are delivered to often; one has 100 bytes. */
  private static final long MAX_KNOWN = 10_000;

  private final SharedSecrets shared;
  private final String kind;
  private final RandomGenerator random;

  /** By name. A secret of a name never changes. */
  private final Cache<String, byte[]> known = Caffeine.newBuilder().maximumSize(MAX_KNOWN).build();

  /**
   * @param kind whose they are, with a slash behind it
   */
  public SigningSecrets(SharedSecrets shared, String kind, RandomGenerator random) {
    this.shared = shared;
    this.kind = kind;
    this.random = random;
  }

  /**
   * Fails with {@code conflict} when none can be kept: they are encrypted with a secret key, which
   * must be given.
   *
   * @param what the secrets are, for people
   */
  public void requireKey(String what) {
    if (!shared.isEnabled()) {
      throw ApiError.of(
              ErrorCode.CONFLICT,
              "this service has no secret key, with which "
                  + what
                  + " are encrypted; its operators give it one in secret.key")
          .with("reason", "no-secret-key");
    }
  }

  /** A new one. */
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

  private String name(String owner, int version) {
    return kind + owner + "/" + version;
  }

  /**
   * Those in force, the newest first; fewer when some cannot be read here.
   *
   * @param oldUntilMillis until when the version before is in force too; null for not at all
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
