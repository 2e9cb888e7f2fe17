package dev.bourse.trailstream;

import dev.bourse.access.Principal;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.Chain;
import dev.bourse.audit.SealService;
import dev.bourse.audit.SealedBatches;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.delivery.DeliveryEngine;
import dev.bourse.delivery.MaskedUrl;
import dev.bourse.delivery.Signature;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.delivery.SwitchOffReason;
import dev.bourse.store.Statement;
import dev.bourse.trailstream.TrailStream.Progress;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Operations of members on their organization's stream. */
final class TrailStreamService {
  private static final long OLD_SECRET_MILLIS = Duration.ofHours(24).toMillis();
  private static final String ACCESS_KEY_ID = "access_key_id";
  private static final String SECRET_ACCESS_KEY = "secret_access_key";

  /** The start of a new stream's chains. */
  enum Start {
    /** The oldest batch whose rows are kept. */
    OLDEST,
    /** After the newest batch. */
    NOW;

    static Start of(String label) {
      return label.equals("now") ? NOW : OLDEST;
    }
  }

  /**
   * A member's request.
   *
   * @param secretAccessKey credential of an object store; null to keep the stored one
   * @param start null to start a new stream at the oldest batch, and to keep the position of an
   *     existing one
   */
  record Order(
      String destination,
      @Nullable String accessKeyId,
      @Nullable String secretAccessKey,
      boolean includeReads,
      boolean enabled,
      @Nullable Start start) {}

  private final TrailStreamStore store;
  private final SealedBatches batches;
  private final SigningSecrets secrets;
  private final BatchSender sender;
  private final DeliveryEngine<?> engine;
  private final Clock clock;
  private final RandomGenerator random;

  TrailStreamService(
      TrailStreamStore store,
      SealedBatches batches,
      BatchSender sender,
      DeliveryEngine<?> engine,
      Clock clock,
      RandomGenerator random) {
    this.store = store;
    this.batches = batches;
    this.secrets = sender.secrets();
    this.sender = sender;
    this.engine = engine;
    this.clock = clock;
    this.random = random;
  }

  /** Returns the organization's stream; fails with {@code not-found} if there is none. */
  Future<TrailStreamView> readTrailStream(Principal caller) {
    return get(caller).compose(stream -> view(stream, null));
  }

  private Future<TrailStream> get(Principal caller) {
    String orgId = caller.org().orgId();
    return store
        .find(orgId)
        .map(found -> found.orElseThrow(() -> ApiException.notFound("trail stream of", orgId)));
  }

  private Future<TrailStreamView> view(TrailStream stream, @Nullable String secret) {
    Future<Optional<SealService.Head>> writes = batches.findHead(stream.chain(false));
    Future<Optional<SealService.Head>> reads = batches.findHead(stream.chain(true));
    return Future.all(writes, reads)
        .map(both -> new TrailStreamView(stream, writes.result(), reads.result(), secret));
  }

  /** Creates or changes the stream, and tries it at once. */
  Future<TrailStreamView> setTrailStream(Principal caller, Order order) {
    Destination destination = Destination.of(order.destination());
    requireKeys(destination, order);
    secrets.requireKey("secrets of trail streams");
    return store
        .find(caller.org().orgId())
        .compose(
            found -> {
              Optional<TrailStream> there =
                  found.filter(stream -> stream.destination().equals(destination));
              // An existing destination is checked at each attempt; it may be paused while it is
              // down.
              return (there.isPresent()
                      ? Future.<Void>succeededFuture()
                      : requireReachable(caller, destination))
                  .compose(
                      reachable ->
                          found.isEmpty()
                              ? create(caller, destination, order)
                              : change(caller, found.get(), destination, order));
            });
  }

  private Future<Void> requireReachable(Principal caller, Destination destination) {
    return sender
        .refusal(caller.org().orgId(), destination)
        .map(
            refusal -> {
              refusal.ifPresent(
                  why -> {
                    throw ApiException.badField(Destination.FIELD, destination.text(), why);
                  });
              return null;
            });
  }

  private static void requireKeys(Destination destination, Order order) {
    if (destination.isStore() && order.accessKeyId() == null) {
      throw ApiException.badField(
          ACCESS_KEY_ID, null, "the id of a key that may write to the bucket");
    }
    if (!destination.isStore() && order.accessKeyId() != null) {
      throw ApiException.badField(
          ACCESS_KEY_ID, order.accessKeyId(), "no value, because only s3:// addresses use it");
    }
    if (!destination.isStore() && order.secretAccessKey() != null) {
      throw ApiException.badField(
          SECRET_ACCESS_KEY, "…", "no value, because only s3:// addresses use it");
    }
  }

  /**
   * A stream's secret.
   *
   * @param told the text that the member sees once; null for the secret of an object store
   */
  private record Secret(Buffer bytes, @Nullable String told) {}

  private Secret secret(Destination destination, Order order) {
    if (!destination.isStore()) {
      byte[] minted = secrets.mint();
      return new Secret(Buffer.buffer(minted), Signature.text(minted));
    }
    String given = order.secretAccessKey();
    if (given == null) {
      throw ApiException.badField(
          SECRET_ACCESS_KEY, null, "the secret of the key, because the key or the address is new");
    }
    return new Secret(Buffer.buffer(given), null);
  }

  private Future<TrailStreamView> create(Principal caller, Destination destination, Order order) {
    String orgId = caller.org().orgId();
    Secret secret = secret(destination, order);
    Start start = Objects.requireNonNullElse(order.start(), Start.OLDEST);
    return begin(orgId, order.includeReads(), start)
        .compose(
            begun -> {
              long now = clock.millis();
              TrailStream stream =
                  new TrailStream(
                      orgId,
                      Ids.next("tst", random),
                      destination,
                      order.accessKeyId(),
                      order.includeReads(),
                      begun,
                      order.enabled() ? null : (Long) now,
                      order.enabled() ? null : SwitchOffReason.SWITCHED_OFF.label(),
                      1,
                      null,
                      1,
                      now,
                      caller.actor());
              return store
                  .create(
                      stream,
                      List.of(secrets.storing(stream.streamId(), 1, secret.bytes().getBytes())),
                      row(caller, "trail_stream_set", stream.shown()))
                  .compose(stored -> told(caller, secret.told()));
            });
  }

  private Future<TrailStreamView> told(Principal caller, @Nullable String secret) {
    engine.pollNow();
    return get(caller).compose(stream -> view(stream, secret));
  }

  /** Returns the start of a stream's chains; none for reads while they are not included. */
  private Future<Progress> begin(String orgId, boolean includeReads, Start start) {
    Future<Long> writes = begin(new Chain(orgId, false), start);
    Future<@Nullable Long> reads =
        includeReads
            ? begin(new Chain(orgId, true), start).map(batch -> batch)
            : Future.succeededFuture(null);
    return Future.all(writes, reads)
        .map(both -> Progress.at(writes.result(), reads.result(), clock.millis()));
  }

  private Future<Long> begin(Chain chain, Start start) {
    return start == Start.OLDEST
        ? batches.lastPurged(chain)
        : batches.findHead(chain).map(head -> head.map(SealService.Head::batch).orElse(0L));
  }

  private Future<TrailStreamView> change(
      Principal caller, TrailStream before, Destination destination, Order order) {
    boolean isOther =
        destination.isStore()
            ? order.secretAccessKey() != null
                || !destination.equals(before.destination())
                || !Objects.equals(order.accessKeyId(), before.accessKeyId())
            : before.destination().isStore();
    Secret secret = isOther ? secret(destination, order) : null;
    return begins(before, order)
        .compose(
            begins -> {
              long now = clock.millis();
              TrailStream next =
                  new TrailStream(
                      before.orgId(),
                      before.streamId(),
                      destination,
                      order.accessKeyId(),
                      order.includeReads(),
                      before.progress(),
                      order.enabled() ? null : disabledAt(before, now),
                      order.enabled() ? null : disabledReason(before),
                      before.secretVersion() + (isOther ? 1 : 0),
                      isOther ? null : before.oldSecretUntilMillis(),
                      before.revision() + 1,
                      before.createdAtMillis(),
                      before.createdBy());
              List<Statement> more = new ArrayList<>(begins);
              more.add(TrailStreamStore.restartRetries(next, now));
              if (secret != null) {
                more.add(
                    secrets.storing(
                        next.streamId(), next.secretVersion(), secret.bytes().getBytes()));
                more.addAll(secrets.deletingAll(next.streamId(), before.secretVersion()));
              }
              return store
                  .update(before, next, more, row(caller, "trail_stream_set", next.shown()))
                  .compose(stored -> told(caller, secret == null ? null : secret.told()));
            });
  }

  private static Long disabledAt(TrailStream before, long nowMillis) {
    return Objects.requireNonNullElse(before.disabledAtMillis(), nowMillis);
  }

  private static String disabledReason(TrailStream before) {
    return Objects.requireNonNullElse(
        before.disabledReason(), SwitchOffReason.SWITCHED_OFF.label());
  }

  /**
   * Returns the statements that move a changed stream's chains: both as requested, or the reads to
   * their start.
   */
  private Future<List<Statement>> begins(TrailStream before, Order order) {
    boolean areNew = order.includeReads() && before.progress().readsBatch() == null;
    Start start = Objects.requireNonNullElse(order.start(), Start.OLDEST);
    List<Future<Statement>> begins = new ArrayList<>();
    for (boolean isRead : new boolean[] {false, true}) {
      if (isRead
          ? areNew || (order.start() != null && order.includeReads())
          : order.start() != null) {
        begins.add(
            begin(before.chain(isRead), start)
                .map(batch -> TrailStreamStore.setPosition(before, isRead, batch)));
      }
    }
    return Future.all(begins).map(all -> all.<Statement>list());
  }

  /** Deletes the stream and its position. */
  Future<JsonObject> deleteTrailStream(Principal caller) {
    return get(caller)
        .compose(
            stream ->
                store.delete(
                    stream,
                    secrets.deletingAll(stream.streamId(), stream.secretVersion()),
                    row(caller, "trail_stream_delete", stream.shown())))
        .map(deleted -> new JsonObject().put("org_id", caller.org().orgId()));
  }

  /**
   * Rotates the stream's signing secret; the previous one signs too for a day. Fails with {@code
   * conflict} for an object store, whose secret members provide.
   */
  Future<TrailStreamView> rotateTrailStreamSecret(Principal caller) {
    return get(caller)
        .compose(
            before -> {
              if (before.destination().isStore()) {
                throw ApiException.of(
                        ErrorCode.CONFLICT,
                        "the stream goes to an object store; set it with another"
                            + " secret_access_key")
                    .with("reason", "wrong-status");
              }
              secrets.requireKey("secrets of trail streams");
              byte[] secret = secrets.mint();
              TrailStream next =
                  before.withSecret(before.secretVersion() + 1, clock.millis() + OLD_SECRET_MILLIS);
              return store
                  .update(
                      before,
                      next,
                      List.of(
                          secrets.storing(next.streamId(), next.secretVersion(), secret),
                          secrets.deleting(next.streamId(), before.secretVersion() - 1)),
                      row(
                          caller,
                          "trail_stream_rotate",
                          "destination=" + MaskedUrl.of(next.destination().text())))
                  .compose(stored -> told(caller, Signature.text(secret)));
            });
  }

  private AuditRow row(Principal caller, String action, String detail) {
    String orgId = caller.org().orgId();
    return new AuditRow(clock.millis(), orgId, caller.actor(), action, orgId, detail);
  }
}
