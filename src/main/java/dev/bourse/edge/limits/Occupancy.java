package dev.bourse.edge.limits;

import dev.bourse.core.ApiException;
import dev.bourse.core.Bulkhead;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The resources of {@link ProcessLimits} that the connections of all event loops use, and their
 * owners.
 */
public final class Occupancy {
  private static final Logger LOG = LoggerFactory.getLogger(Occupancy.class);

  /** One log line a minute at most, so that a flood does not fill the log. */
  private static final long REPORT_NANOS = 60_000_000_000L;

  /** The resources of one client address. A proxy's address has no limit. */
  static final class ClientShare {
    private final String address;
    private final boolean isBounded;
    private final AtomicLong unreadBytes = new AtomicLong();
    private int connections;

    private ClientShare(String address, boolean isBounded) {
      this.address = address;
      this.isBounded = isBounded;
    }
  }

  private final ProcessLimits room;
  private final ClientAddress clients;
  private final Neighbours neighbours = new Neighbours();
  private final Map<String, ClientShare> byAddress = new ConcurrentHashMap<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicLong unreadBytes = new AtomicLong();
  private final Bulkhead blocks;
  private final LongAdder rejected = new LongAdder();
  private long reportedNanos;
  private long reported;

  public Occupancy(ProcessLimits room, ClientAddress clients) {
    this.room = room;
    this.clients = clients;
    this.blocks =
        Bulkhead.of("kilobytes of bodies on their way in", kilobytes(room.blockBytes()))
            .sharingFairly();
  }

  private static int kilobytes(long bytes) {
    return (int) Math.min(Integer.MAX_VALUE, Math.max(1, (bytes + 1_023) / 1_024));
  }

  ProcessLimits room() {
    return room;
  }

  /** Returns the loops whose connections are counted here. */
  Neighbours neighbours() {
    return neighbours;
  }

  /** Adds a connection of an address; null if the address has reached its limit. */
  @Nullable ClientShare enter(String peer) {
    boolean isBounded = !clients.isProxy(peer);
    int[] count = new int[1];
    ClientShare client =
        byAddress.compute(
            clients.key(peer, null),
            (address, known) -> {
              ClientShare found = known == null ? new ClientShare(address, isBounded) : known;
              count[0] = ++found.connections;
              return found;
            });
    connections.incrementAndGet();
    if (isBounded && count[0] > room.connectionsPerAddress()) {
      leave(client);
      return null;
    }
    return client;
  }

  void leave(ClientShare client) {
    byAddress.computeIfPresent(
        client.address, (address, known) -> --known.connections == 0 ? null : known);
    connections.decrementAndGet();
  }

  /** Returns whether more connections are open than the limit. */
  boolean isFull() {
    return connections.get() > room.connections();
  }

  public int connections() {
    return connections.get();
  }

  /** The result of a reservation. */
  enum Reservation {
    TAKEN,
    /** Rejected: the address has used its share. */
    SHARE_SPENT,
    /** Rejected: all addresses together have used the limit. */
    NONE_LEFT
  }

  /** Reserves memory for unread bytes, completely or not at all. */
  Reservation reserveUnread(ClientShare client, long bytes) {
    if (client.unreadBytes.addAndGet(bytes) > room.unreadBytesPerAddress() && client.isBounded) {
      client.unreadBytes.addAndGet(-bytes);
      return Reservation.SHARE_SPENT;
    }
    if (unreadBytes.addAndGet(bytes) > room.unreadBytes()) {
      releaseUnread(client, bytes);
      return Reservation.NONE_LEFT;
    }
    return Reservation.TAKEN;
  }

  void releaseUnread(ClientShare client, long bytes) {
    client.unreadBytes.addAndGet(-bytes);
    unreadBytes.addAndGet(-bytes);
  }

  /**
   * Reserves memory for bodies, completely or not at all.
   *
   * @param owner the owner of the bodies, limited to the free amount, so that slow bodies of one
   *     organization leave room for others
   * @return the reservation; empty if there is no room
   */
  public Optional<Bulkhead.Place> reserveBlock(String owner, long bytes) {
    try {
      return Optional.of(blocks.enter(owner, kilobytes(bytes)));
    } catch (ApiException none) {
      return Optional.empty();
    }
  }

  public long unreadBytes() {
    return unreadBytes.get();
  }

  public long blockBytes() {
    return 1_024L * blocks.running();
  }

  /** Counts a connection that was closed because there was no room. */
  public void recordRejection() {
    rejected.increment();
  }

  /** Logs the number of rejections since the last time, if any, at most once a minute. */
  public synchronized void report(long nowNanos) {
    long all = rejected.sum();
    if (all == reported || (reported > 0 && nowNanos - reportedNanos < REPORT_NANOS)) {
      return;
    }
    reportedNanos = nowNanos;
    LOG.warn(
        """
        rejected {} connections or bodies because there was no room; {} of {} connections are \
        open, {} of {} bytes are used by incomplete requests, {} of {} by uploads\
        """,
        all - reported,
        connections.get(),
        room.connections(),
        unreadBytes.get(),
        room.unreadBytes(),
        blockBytes(),
        room.blockBytes());
    reported = all;
  }

  public long rejected() {
    return rejected.sum();
  }
}
