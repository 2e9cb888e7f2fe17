package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.core.Ids;
import dev.bourse.core.Secrets;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.random.RandomGenerator;

/**
 * The sessions of protocol revisions with a handshake. A session's id carries all its facts,
 * signed, so that any process on the same store serves any session; only an ended session has a
 * row.
 */
public final class HandshakeSessions {
  /** The lifetime of a session; afterwards clients have to start a new one. */
  static final long VALID_MILLIS = 24L * 3_600 * 1_000;

  private static final int NONCE_LENGTH = 16;
  private static final int PARTS = 4;
  private static final int MAX_LENGTH = 256;

  private final Signer signer;
  private final McpStore store;
  private final Clock clock;
  private final RandomGenerator random;

  /**
   * @param secret 32 bytes shared by all processes of the store
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

  /**
   * The revision of a live session; fails with an {@link RpcException} if the session is not live.
   */
  Future<ProtocolRevision> find(Principal caller, String id) {
    Session session = read(caller, id);
    return store
        .isEnded(Secrets.stored(id))
        .map(
            ended -> {
              if (ended) {
                throw sessionEnded();
              }
              return session.revision();
            });
  }

  /** Ends a session; later requests in it are refused. */
  Future<Void> end(Principal caller, String id) {
    Session session = read(caller, id);
    return find(caller, id)
        .compose(live -> store.end(Secrets.stored(id), session.expiresAtMillis()));
  }

  private Session read(Principal caller, String id) {
    String[] parts = id.length() > MAX_LENGTH ? new String[0] : id.split("\\.", -1);
    if (parts.length != PARTS) {
      throw sessionEnded();
    }
    String facts = id.substring(0, id.lastIndexOf('.'));
    if (!signer.matches(parts[3], facts, caller.org().orgId(), caller.actor())) {
      throw sessionEnded();
    }
    ProtocolRevision revision =
        ProtocolRevision.find(parts[0]).orElseThrow(HandshakeSessions::sessionEnded);
    long expiresAt = Long.parseLong(parts[1]) + VALID_MILLIS;
    if (clock.millis() >= expiresAt) {
      throw sessionEnded();
    }
    return new Session(revision, expiresAt);
  }

  private static RpcException sessionEnded() {
    return RpcException.noSession(
        "the session is unknown or has ended; send initialize without Mcp-Session-Id");
  }
}
