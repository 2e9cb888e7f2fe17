package dev.bourse.access;

import dev.bourse.core.TokenSecret;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The credentials of nodes' agents: {@code brn_<id>_<secret>}, one for each allocation.
 *
 * <p>A secret is the HMAC of the allocation's id under a secret that all processes of the store
 * share, so no row holds a credential or its digest, a call that prepares a machine again writes
 * the same credential, and every process checks it without the store. A credential is valid while
 * its allocation is open. An id is never used twice, so it is never valid again after that.
 */
public final class NodeCredentials {
  private static final String ALGORITHM = "HmacSHA256";

  /** The prefix of the ids of allocations that have a credential. */
  private static final String ALLOCATION = "alc_";

  private static final String SECRET = "node-credentials";

  private volatile @Nullable SecretKeySpec key;
  private volatile Function<String, Optional<NodeAgent>> holders = id -> Optional.empty();

  /** Reads the shared secret, or generates it. */
  public Future<Void> load(ServiceSecrets secrets) {
    return secrets
        .get(SECRET)
        .map(
            secret -> {
              key = new SecretKeySpec(secret, ALGORITHM);
              return null;
            });
  }

  /** Sets the function that finds the holder of an open allocation. */
  public void findHoldersBy(Function<String, Optional<NodeAgent>> found) {
    holders = found;
  }

  /** Returns the credential of an allocation; empty if its id is not one of the market's. */
  public Optional<String> issue(String allocationId) {
    return allocationId.startsWith(ALLOCATION)
        ? issued(allocationId.substring(ALLOCATION.length())).map(TokenSecret::text)
        : Optional.empty();
  }

  private Optional<TokenSecret> issued(String id) {
    SecretKeySpec shared = key;
    return shared == null
        ? Optional.empty()
        : TokenSecret.derive(TokenSecret.Kind.NODE, id, hmac(shared, id));
  }

  private static byte[] hmac(SecretKeySpec key, String id) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return mac.doFinal(id.getBytes(StandardCharsets.US_ASCII));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(ALGORITHM + " is part of every Java platform", e);
    }
  }

  /** Finds the agent with this credential; empty if it is forged or its allocation has ended. */
  Optional<NodeAgent> find(TokenSecret presented) {
    return issued(presented.tokenId())
        .filter(issued -> MessageDigest.isEqual(issued.sha256(), presented.sha256()))
        .flatMap(valid -> holders.apply(ALLOCATION + presented.tokenId()));
  }

  /** Returns the agent with this credential, or fails with {@code unauthorized}. */
  NodeAgent authenticate(TokenSecret presented) {
    return find(presented)
        .orElseThrow(
            () ->
                BearerAuthenticator.unauthorized(
                    "the node's credential is unknown, or its allocation has ended"));
  }
}
