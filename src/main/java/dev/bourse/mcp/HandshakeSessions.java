package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.core.Ids;
import dev.bourse.core.Secrets;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.random.RandomGenerator;

/**
 * The sessions of the revisions that begin with a handshake. An id carries all facts of its
 * session, signed, so that any process on the same store serves any session; only an ended one is a
 * row.
 */
public final class HandshakeSessions {
  /** How long a session lasts; a client is then told to begin a new one. */
  static final long VALID_MILLIS = 24L * 3_600 * 1_000;

  private static final int NONCE_LENGTH = 16;
  private static final int PARTS = 4;
  private static final int MAX_LENGTH = 256;

  private final Signer signer;
  private final McpStore store;
  private final Clock clock;
  private final RandomGenerator random;

  /**
   * @param secret 32 bytes on which every process of the store agrees
   * @param random a cryptographic source
   */
  public HandshakeSessions(byte[] secret, McpStore store, Clock clock, RandomGenerator random) {
    this.signer = new Signer(secret);
    this.store = store;
    this.clock = clock;
    this.random = random;
  }

  private record Session(ProtocolRevision revision, long expiresAtMillis) {}

  /** The id of a new session of a member. */
  String begin(Principal caller, ProtocolRevision revision) {
    String facts = revision.label() + '.' + clock.millis() + '.' + Ids.base62(random, NONCE_LENGTH);
    return facts + '.' + sign(caller, facts);
  }

  private String sign(Principal caller, String facts) {
    return signer.sign(facts, caller.org().orgId(), caller.actor());
  }

  /** The revision of a live session; fails with an {@link RpcError} for any other. */
  Future<ProtocolRevision> find(Principal caller, String id) {
    Session session = read(caller, id);
    return store
        .isEnded(Secrets.stored(id))
        .map(
            ended -> {
              if (ended) {
                throw over();
              }
              return session.revision();
            });
  }

  /** Ends a session; any later request in it is refused. */
  Future<Void> end(Principal caller, String id) {
    Session session = read(caller, id);
    return find(caller, id)
        .compose(live -> store.end(Secrets.stored(id), session.expiresAtMillis()));
  }

  private Session read(Principal caller, String id) {
    String[] parts = id.length() > MAX_LENGTH ? new String[0] : id.split("\\.", -1);
    if (parts.length != PARTS) {
      throw over();
    }
    String facts = id.substring(0, id.lastIndexOf('.'));
    if (!signer.matches(parts[3], facts, caller.org().orgId(), caller.actor())) {
      throw over();
    }
    ProtocolRevision revision =
        ProtocolRevision.find(parts[0]).orElseThrow(HandshakeSessions::over);
    long expiresAt = Long.parseLong(parts[1]) + VALID_MILLIS;
    if (clock.millis() >= expiresAt) {
      throw over();
    }
    return new Session(revision, expiresAt);
  }

  private static RpcError over() {
    return RpcError.noSession(
        "the session is unknown or has ended; send initialize without Mcp-Session-Id");
  }
}
