package dev.bourse.edge.limits;

import java.util.Map;
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

  /** A flood had better not fill the log too. */
  private static final long REPORT_NANOS = 60_000_000_000L;

  /** What the connections of one client address hold; of a proxy's nothing is asked. */
  static final class Tenant {
    private final String address;
    private final boolean isBounded;
    private final AtomicLong unreadBytes = new AtomicLong();
    private int connections;

    private Tenant(String address, boolean isBounded) {
      this.address = address;
      this.isBounded = isBounded;
    }
  }

  private final ProcessLimits room;
  private final ClientAddress clients;
  private final Map<String, Tenant> tenants = new ConcurrentHashMap<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicLong unreadBytes = new AtomicLong();
  private final AtomicLong blockBytes = new AtomicLong();
  private final LongAdder turnedAway = new LongAdder();
  private long reportedNanos;
  private long reported;

  public Occupancy(ProcessLimits room, ClientAddress clients) {
    this.room = room;
    this.clients = clients;
  }

  ProcessLimits room() {
    return room;
  }

  /** A connection from there has been opened; null when the address has all it may have. */
  @Nullable Tenant enter(String peer) {
    boolean isBounded = !clients.isProxy(peer);
    int[] count = new int[1];
    Tenant tenant =
        tenants.compute(
            clients.key(peer, null),
            (address, known) -> {
              Tenant found = known == null ? new Tenant(address, isBounded) : known;
              count[0] = ++found.connections;
              return found;
            });
    connections.incrementAndGet();
    if (isBounded && count[0] > room.connectionsPerAddress()) {
      leave(tenant);
      return null;
    }
    return tenant;
  }

  void leave(Tenant tenant) {
    connections.decrementAndGet();
    tenants.computeIfPresent(
        tenant.address, (address, known) -> --known.connections == 0 ? null : known);
  }

  /** Whether more connections are open than there is room for. */
  boolean isFull() {
    return connections.get() > room.connections();
  }

  public int connections() {
    return connections.get();
  }

  /** What came of taking bytes. */
  enum Taking {
    TAKEN,
    /** The address has its share. */
    SHARE_SPENT,
    /** All addresses together have all there is. */
    NONE_LEFT
  }

  /** Takes so many bytes of what may wait unread, or none. */
  Taking takeUnread(Tenant tenant, long bytes) {
    if (tenant.unreadBytes.addAndGet(bytes) > room.unreadBytesPerAddress() && tenant.isBounded) {
      tenant.unreadBytes.addAndGet(-bytes);
      return Taking.SHARE_SPENT;
    }
    if (unreadBytes.addAndGet(bytes) > room.unreadBytes()) {
      giveUnread(tenant, bytes);
      return Taking.NONE_LEFT;
    }
    return Taking.TAKEN;
  }

  void giveUnread(Tenant tenant, long bytes) {
    tenant.unreadBytes.addAndGet(-bytes);
    unreadBytes.addAndGet(-bytes);
  }

  /** Takes so many bytes of what bodies of bytes may hold, or none. */
  public boolean takeBlock(long bytes) {
    if (blockBytes.addAndGet(bytes) > room.blockBytes()) {
      blockBytes.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  public void giveBlock(long bytes) {
    blockBytes.addAndGet(-bytes);
  }

  public long unreadBytes() {
    return unreadBytes.get();
  }

  public long blockBytes() {
    return blockBytes.get();
  }

  /** A connection was closed for want of room. */
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
        "{} connections or bodies were turned away for want of room; {} of {} connections are open,"
            + " {} of {} bytes are taken by what is not complete, {} of {} by uploads",
        all - reported,
        connections.get(),
        room.connections(),
        unreadBytes.get(),
        room.unreadBytes(),
        blockBytes.get(),
        room.blockBytes());
    reported = all;
  }

  public long turnedAway() {
    return turnedAway.sum();
  }
}
