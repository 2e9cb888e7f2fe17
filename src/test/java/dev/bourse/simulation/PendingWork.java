package dev.bourse.simulation;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Collections of the market and the owners of clusters that hold work in progress or failed, and
 * must be empty without any. They are inspected by reflection, only here, because the product has
 * no use for a view of them.
 */
final class PendingWork {
  private final List<String> kept = new ArrayList<>();

  private PendingWork() {}

  /** Returns each collection that is not empty, with its contents. */
  static List<String> of(Replica process) {
    Object bare = process.core();
    if (bare == null) {
      return List.of();
    }
    PendingWork mind = new PendingWork();
    Object core = get(bare, "core");
    for (Object open : ((Map<?, ?>) get(get(core, "market"), "open")).values()) {
      Object fleet = getOrNull(get(open, "market"), "fleet");
      if (fleet != null) {
        mind.look("fleet", fleet, "lost");
        mind.look("fleet.orphans", get(fleet, "orphans"), "cleaning");
        mind.look("fleet.reclaimFailures", get(fleet, "reclaimFailures"), "inARow");
        mind.workPool("fleet.workPool", get(fleet, "workPool"));
        Object holdingsScan = get(fleet, "holdingsScan");
        mind.look("holdingsScan", holdingsScan, "open", "answers", "inWork");
        mind.workPool("holdingsScan.workPool", get(holdingsScan, "workPool"));
        Object prober = get(fleet, "prober");
        mind.look("prober", prober, "inWork");
        Map<?, ?> inventory = (Map<?, ?>) get(get(fleet, "nodes"), "nodes");
        mind.lookForOthers("prober", prober, inventory, "missedRounds", "muteRounds");
        mind.look("notices", get(get(fleet, "notices"), "workPool"), "failedTries");
        mind.workQueue("prober.queue", get(prober, "queue"));
        mind.look("inventory", get(fleet, "nodes"), "writing");
      }
    }
    for (Object owner : (List<?>) get(get(core, "owners"), "owners")) {
      ((Map<?, ?>) get(get(owner, "verticle"), "mailboxes"))
          .forEach((name, mailbox) -> mind.look("mailbox of " + name, mailbox, "waiting"));
    }
    return mind.kept;
  }

  private void workPool(String where, Object workPool) {
    look(where, workPool, "running", "failedTries", "scheduled");
    workQueue(where + ".queue", get(workPool, "queue"));
  }

  private void workQueue(String where, Object queue) {
    look(where + ".first", get(queue, "first"), "waiting");
    look(where + ".again", get(queue, "again"), "waiting");
  }

  private void look(String where, Object holder, String... names) {
    for (String name : names) {
      Object held = get(holder, name);
      boolean isEmpty =
          held instanceof Map<?, ?> map ? map.isEmpty() : ((Collection<?>) held).isEmpty();
      if (!isEmpty) {
        kept.add(where + "." + name + " " + (held instanceof Map<?, ?> m ? m.keySet() : held));
      }
    }
  }

  /** Finds entries of nodes that the pool no longer has. */
  private void lookForOthers(String where, Object holder, Map<?, ?> nodes, String... names) {
    for (String name : names) {
      Map<?, ?> held = (Map<?, ?>) get(holder, name);
      if (!nodes.keySet().containsAll(held.keySet())) {
        kept.add(where + "." + name + " " + held.keySet());
      }
    }
  }

  private static Object get(Object holder, String name) {
    Object found = getOrNull(holder, name);
    if (found == null) {
      throw new IllegalStateException(holder.getClass() + " has no " + name);
    }
    return found;
  }

  private static @Nullable Object getOrNull(Object holder, String name) {
    try {
      Field field = holder.getClass().getDeclaredField(name);
      field.setAccessible(true);
      return field.get(holder);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(holder.getClass() + "." + name, e);
    }
  }
}
