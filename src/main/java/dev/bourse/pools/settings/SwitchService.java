package dev.bourse.pools.settings;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.Trails;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.pools.Switches;
import dev.bourse.store.Database;
import dev.bourse.store.Mirror;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/** The platform-wide switches: configured values until an operator sets one, then stored ones. */
public final class SwitchService implements Mirror {
  /** The topic of changes that other processes get when a switch is set. */
  public static final String CHANGED = "switch";

  /** The only key of changes; it stands for all switches. */
  private static final String ALL = "all";

  private final SwitchStore store;
  private final Clusters clusters;
  private final Switches configured;
  private final Clock clock;

  /** The last read of the store; reads run one after the other, see {@link #load}. */
  private Future<Switches> lastReading;

  /**
   * @param clusters publishes the switches in force; it starts with the configured ones
   */
  public SwitchService(Database database, Clusters clusters, Clock clock) {
    this.store = new SwitchStore(database);
    this.clusters = clusters;
    this.configured = clusters.switches();
    this.clock = clock;
    this.lastReading = Future.succeededFuture(configured);
  }

  /**
   * Puts the stored switches in force. Reads run one after the other, so an older result cannot
   * replace a newer one.
   */
  public synchronized Future<Switches> load() {
    lastReading =
        lastReading
            .otherwiseEmpty()
            .compose(read -> store.read(configured))
            .map(
                read -> {
                  clusters.put(read);
                  return read;
                });
    return lastReading;
  }

  /** Reads all switches together, because there are only three. */
  @Override
  public Future<Refreshed> refresh(List<String> keys) {
    Switches before = clusters.switches();
    return load()
        .map(
            read ->
                new Refreshed(
                    read.equals(before) ? Set.<String>of() : Set.copyOf(keys), Set.<String>of()));
  }

  @Override
  public Comparison compare() {
    AtomicBoolean isOver = new AtomicBoolean();
    return () ->
        isOver.get()
            ? Future.succeededFuture(Optional.empty())
            : store
                .read(configured)
                .map(
                    stored -> {
                      isOver.set(true);
                      return Optional.of(
                          stored.equals(clusters.switches()) ? List.of() : List.of(ALL));
                    });
  }

  /** Returns the switches in force. */
  public Switches readSwitches() {
    return clusters.switches();
  }

  /**
   * Sets switches; an empty one stays as it is.
   *
   * @param actor the operator
   */
  public Future<Switches> writeSwitches(
      String actor,
      Optional<Boolean> writesArmed,
      Optional<Boolean> spendLimitEnforced,
      Optional<Boolean> billingHoldEnforced) {
    Map<SwitchStore.Name, Boolean> thrown = new EnumMap<>(SwitchStore.Name.class);
    writesArmed.ifPresent(on -> thrown.put(SwitchStore.Name.CAPACITY_WRITES, on));
    spendLimitEnforced.ifPresent(on -> thrown.put(SwitchStore.Name.SPEND_LIMIT, on));
    billingHoldEnforced.ifPresent(on -> thrown.put(SwitchStore.Name.BILLING_HOLD, on));
    String detail =
        thrown.entrySet().stream()
            .map(entry -> entry.getKey().stored() + "=" + entry.getValue())
            .collect(Collectors.joining(" "));
    AuditRow row =
        new AuditRow(clock.millis(), Trails.PLATFORM, actor, "switches_put", "platform", detail);
    return store
        .write(thrown, AuditStore.insert(row))
        // The error of a failure must say that the switches are stored.
        .compose(stored -> load().recover(e -> Future.failedFuture(ApiException.storedOnly())));
  }
}
