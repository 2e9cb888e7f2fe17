package dev.bourse.doctor;

import dev.bourse.nodes.SshConfig;
import dev.bourse.store.transfer.StoredTable;
import dev.bourse.store.transfer.WholeStore;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Finds pools whose tenants can do more than the settings of their nodes allow for. */
public final class TenantChecks {
  /** Pool names in one line. */
  private static final int MAX_NAMES = 10;

  private final Callable<WholeStore> opening;

  /**
   * @param opening opens the store for inspection
   */
  public TenantChecks(Callable<WholeStore> opening) {
    this.opening = opening;
  }

  /** Checks that nodes of tenants with root rights can be reimaged. */
  public Check rootTenants(SshConfig ssh) {
    return new Check(
        "root tenants",
        notes -> {
          Set<String> pools;
          try (WholeStore store = opening.call()) {
            pools = poolsOfRoot(store);
          }
          String shown =
              String.join(", ", pools.stream().limit(MAX_NAMES).toList())
                  + (pools.size() > MAX_NAMES ? ", …" : "");
          if (pools.isEmpty()) {
            notes.see("no pool with real machines has root tenants or Kubernetes clusters");
          } else if (ssh.reimageCommand().isBlank()) {
            notes.warn(
                "tenants of %d pool(s) could become root: %s".formatted(pools.size(), shown),
                "set nodes.ssh.reimage-command; until then, nodes that they release are quarantined");
          } else {
            notes.see("machines are reimaged after each tenant of " + shown);
          }
        });
  }

  private static Set<String> poolsOfRoot(WholeStore store) {
    Set<String> real = new HashSet<>();
    Set<String> root = new TreeSet<>();
    read(
        store,
        "pool",
        List.of("name", "provider", "tenants"),
        row -> {
          if ("ssh".equals(row.get(1))) {
            real.add(String.valueOf(row.get(0)));
          }
          if ("ROOT".equals(row.get(2))) {
            root.add(String.valueOf(row.get(0)));
          }
        });
    read(
        store,
        "cluster",
        List.of("pool", "kind"),
        row -> {
          if ("K8S".equals(row.get(1))) {
            root.add(String.valueOf(row.get(0)));
          }
        });
    root.retainAll(real);
    return root;
  }

  /** Reads columns of a table; null for columns that an older store lacks. */
  private static void read(
      WholeStore store,
      String name,
      List<String> columns,
      WholeStore.RowSink<RuntimeException> sink) {
    for (StoredTable table : store.tables()) {
      if (table.name().equals(name)) {
        List<String> all = table.columns().stream().map(StoredTable.Column::name).toList();
        List<Integer> places = columns.stream().map(all::indexOf).toList();
        store.read(table, row -> sink.row(select(row, places)));
      }
    }
  }

  private static List<@Nullable Object> select(List<@Nullable Object> row, List<Integer> places) {
    return places.stream()
        .<@Nullable Object>map(
            place -> place < 0 ? "" : Objects.requireNonNullElse(row.get(place), ""))
        .toList();
  }
}
