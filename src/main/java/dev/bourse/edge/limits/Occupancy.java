package dev.bourse.edge.limits;

import dev.bourse.core.ApiError;
import dev.bourse.core.Limit;
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
 * How much of its {@link ProcessLimits} the connections of all event loops take now, and who takes
 * it.
 */
public final class Occupancy {
  private static final Logger LOG = LoggerFactory.getLogger(Occupancy.class);

  /** One line a minute at most, so that a flood does not fill the log too. */
  private static final long REPORT_NANOS = 60_000_000_000L;

  /** What the connections of one client address hold. A proxy's address has no bound. */
  static final class Client {
    private final String address;
    private final boolean isBounded;
    private final AtomicLong unreadBytes = new AtomicLong();
    private int connections;

    private Client(String address, boolean isBounded) {
      this.address = address;
      this.isBounded = isBounded;
    }
  }

  private final ProcessLimits room;
  private final ClientAddress clients;
  private final Neighbours neighbours = new Neighbours();
  private final Map<String, Client> byAddress = new ConcurrentHashMap<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicLong unreadBytes = new AtomicLong();
  private final Limit blocks;
  private final LongAdder turnedAway = new LongAdder();
  private long reportedNanos;
  private long reported;

  public Occupancy(ProcessLimits room, ClientAddress clients) {
    this.room = room;
    this.clients = clients;
    this.blocks =
        Limit.of("kilobytes of bodies on their way in", kilobytes(room.blockBytes()))
            .sharingFairly();
  }

  private static int kilobytes(long bytes) {
    return (int) Math.min(Integer.MAX_VALUE, Math.max(1, (bytes + 1_023) / 1_024));
  }

  ProcessLimits room() {
    return room;
  }

  /** The loops whose connections are counted here. */
  Neighbours neighbours() {
    return neighbours;
  }

  /** Counts in a connection from an address; null when the address has as many as it may have. */
  @Nullable Client enter(String peer) {
    boolean isBounded = !clients.isProxy(peer);
    int[] count = new int[1];
    Client client =
        byAddress.compute(
            clients.key(peer, null),
            (address, known) -> {
              Client found = known == null ? new Client(address, isBounded) : known;
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

  void leave(Client client) {
    connections.decrementAndGet();
    byAddress.computeIfPresent(
        client.address, (address, known) -> --known.connections == 0 ? null : known);
  }

  /** Whether more connections are open than there is room for. */
  boolean isFull() {
    return connections.get() > room.connections();
  }

  public int connections() {
    return connections.get();
  }

  /** Whether bytes could be taken, and if not, why. */
  enum Taking {
    TAKEN,
    /** They were not taken: the address has all of its share. */
    SHARE_SPENT,
    /** They were not taken: all addresses together have all that there is. */
    NONE_LEFT
  }

  /** Takes this many bytes of what may wait unread, or none of them. */
  Taking takeUnread(Client client, long bytes) {
    if (client.unreadBytes.addAndGet(bytes) > room.unreadBytesPerAddress() && client.isBounded) {
      client.unreadBytes.addAndGet(-bytes);
      return Taking.SHARE_SPENT;
    }
    if (unreadBytes.addAndGet(bytes) > room.unreadBytes()) {
      giveUnread(client, bytes);
      return Taking.NONE_LEFT;
    }
    return Taking.TAKEN;
  }

  void giveUnread(Client client, long bytes) {
    client.unreadBytes.addAndGet(-bytes);
    unreadBytes.addAndGet(-bytes);
  }

  /**
   * Takes this many bytes of what bodies may hold in memory, or none of them.
   *
   * @param owner may have no more than is free, so that slow bodies of one organization leave room
   *     for others'
   * @return what gives them back; empty when there is no room
   */
  public Optional<Limit.Place> takeBlock(String owner, long bytes) {
    try {
      return Optional.of(blocks.enter(owner, kilobytes(bytes)));
    } catch (ApiError none) {
      return Optional.empty();
    }
  }

  public long unreadBytes() {
    return unreadBytes.get();
  }

  public long blockBytes() {
    return 1_024L * blocks.running();
  }

  /** Counts a connection that was closed because there was no room for it. */
  public void turnsAway() {
    turnedAway.increment();
  }

  /** Logs what was turned away since the last time, if anything, once a minute at most. */
  public synchronized void report(long nowNanos) {
    long all = turnedAway.sum();
    if (all == reported || (reported > 0 && nowNanos - reportedNanos < REPORT_NANOS)) {
      return;
    }
    reportedNanos = nowNanos;
    LOG.warn(
        """
        {} connections or bodies were turned away for want of room; {} of {} connections are \
        open, {} of {} bytes are taken by what is not complete, {} of {} by uploads\
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

  public long turnedAway() {
    return turnedAway.sum();
  }
}
