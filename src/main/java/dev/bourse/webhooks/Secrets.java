package dev.bourse.webhooks;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.bourse.keyring.SharedSecrets;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/** The secrets that endpoints' events are signed with, encrypted in the store. */
final class Secrets {
  private static final String KIND = "webhook/";

  /** Of endpoints that are called often; one has 100 bytes. */
  private static final long MAX_KNOWN = 10_000;

  private final SharedSecrets shared;
  private final RandomGenerator random;

  /** By name. A secret of a name never changes. */
  private final Cache<String, byte[]> known = Caffeine.newBuilder().maximumSize(MAX_KNOWN).build();

  Secrets(SharedSecrets shared, RandomGenerator random) {
    this.shared = shared;
    this.random = random;
  }

  /** Whether secrets can be kept: they are encrypted with a secret key, which must be given. */
  boolean canKeep() {
    return shared.isEnabled();
  }

  /** A new one. */
  byte[] mint() {
    byte[] secret = new byte[Signature.SECRET_BYTES];
    random.nextBytes(secret);
    return secret;
  }

  Statement storing(String endpointId, int version, byte[] secret) {
    return shared.storing(name(endpointId, version), secret);
  }

  static Statement deleting(String endpointId, int version) {
    return SharedSecrets.deleting(name(endpointId, version));
  }

  private static String name(String endpointId, int version) {
    return KIND + endpointId + "/" + version;
  }

  /** Those that sign now, the newest first; fewer when some cannot be read here. */
  Future<List<byte[]>> signing(WebhookEndpoint endpoint, long nowMillis) {
    List<String> names = new ArrayList<>();
    names.add(name(endpoint.endpointId(), endpoint.secretVersion()));
    Long oldUntil = endpoint.oldSecretUntilMillis();
    if (oldUntil != null && nowMillis < oldUntil) {
      names.add(name(endpoint.endpointId(), endpoint.secretVersion() - 1));
    }
    Map<String, byte[]> found = known.getAllPresent(names);
    return (found.size() == names.size()
            ? Future.succeededFuture(found)
            : shared.list(KIND + endpoint.endpointId() + "/").onSuccess(known::putAll))
        .map(secrets -> names.stream().filter(secrets::containsKey).map(secrets::get).toList());
  }
}
