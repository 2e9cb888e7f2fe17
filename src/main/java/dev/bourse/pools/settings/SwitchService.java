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

/** The platform-wide switches: as configured until an operator throws one, then as stored. */
public final class SwitchService implements Mirror {
  /** What other processes are told when a switch is thrown. */
  public static final String CHANGED = "switch";

  /** The one key that a difference has. */
  private static final String ALL = "all";

  private final SwitchStore store;
  private final Clusters clusters;
  private final Switches configured;
  private final Clock clock;

  /** Readings of the store, one after the other; see {@link #load}. */
  private Future<Switches> lastReading;

  /**
   * @param clusters shows the switches in force; starts with those configured
   */
  public SwitchService(Database database, Clusters clusters, Clock clock) {
    this.store = new SwitchStore(database);
    this.clusters = clusters;
    this.configured = clusters.switches();
    this.clock = clock;
    this.lastReading = Future.succeededFuture(configured);
  }

  /**
   * Puts what is stored in force. Readings never overtake each other, so what an earlier one found
   * cannot undo a later one.
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

  /** There are three of them, so that they are always read together. */
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

  /** The switches in force. */
  public Switches readSwitches() {
    return clusters.switches();
  }

  /**
   * Throws switches; those left empty stay as they are.
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
        // What is stored must not read as if nothing had been.
        .compose(stored -> load().recover(e -> Future.failedFuture(ApiException.storedOnly())));
  }
}
