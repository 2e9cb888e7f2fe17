package dev.bourse.simulation;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a process remembers of work that is under way or failed: collections of the market and the
 * owners of clusters that grow with work and have to be empty without. They are looked at by
 * reflection, here alone: the product has no use for a view of them.
 */
final class KeptInMind {
  private final List<String> kept = new ArrayList<>();

  private KeptInMind() {}

  /** Each collection that is not empty, with what is in it. */
  static List<String> of(Replica process) {
    Object bare = process.core();
    if (bare == null) {
      return List.of();
    }
    KeptInMind mind = new KeptInMind();
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
        mind.look("prober.queue", get(prober, "queue"), "first", "again");
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
    look(where + ".queue", get(workPool, "queue"), "first", "again");
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
