package dev.bourse.simulation;

import dev.bourse.app.BareProcess;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.simulation.AccessClients.Fate;
import dev.bourse.simulation.AccessClients.Granted;
import dev.bourse.simulation.AccessClients.Pass;
import dev.bourse.simulation.AccessClients.Person;
import dev.bourse.sshkeys.SshKey;
import dev.bourse.store.Mirror;
import dev.bourse.store.sqlite.MemoryEngine;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Invariants of access, keys, organizations and all in-memory state. */
final class AccessInvariants {
  private AccessInvariants() {}

  /** Creates a fresh instance of each. */
  static List<Invariant> all() {
    return List.of(
        new TokensEndInTime(),
        new MembersEndInTime(),
        new KeysAreInForceInTime(),
        new AnswersAreTrue(),
        new MachinesHaveTheirKeys(),
        new RetiredHoldNothing(),
        new MirrorsEqualTheStore(),
        new NothingIsUntold());
  }

  /** How long a process and its link to the database have worked without faults. */
  private static final class Quiet {
    /** The time-out of lost messages, and the same again for retries. */
    private static final long TROUBLE_NANOS = 15_000_000_000L;

    private final Map<String, Long> metNanos = new HashMap<>();

    boolean holds(World world, World.Slot slot, Replica replica) {
      long now = world.scheduler.nowNanos();
      long met = metNanos.computeIfAbsent(replica.name(), name -> now);
      long troubled =
          Math.max(Math.max(met, replica.runsSinceNanos()), slot.route.lastTroubleNanos());
      return now - troubled >= TROUBLE_NANOS;
    }
  }

  /** Checks each process at intervals, and more often after changes. */
  private abstract static class Watched extends Invariant {
    /**
     * A change is delivered within a second; a lost wake-up or a failed read may cost another half.
     */
    static final long BOUND_NANOS = 2_000_000_000L;

    /**
     * Tokens are checked by digests: checking all of them each second would dominate the
     * simulation.
     */
    private static final long SELDOM_SECONDS = 10;

    private static final long OFTEN_NANOS = 5_000_000_000L;

    private final Quiet quiet = new Quiet();

    @Override
    final void everySecond(World world) {
      long now = world.scheduler.nowNanos();
      boolean isDue =
          now / 1_000_000_000 % SELDOM_SECONDS == 0
              || now - world.access.movedNanos() < OFTEN_NANOS;
      for (World.Slot slot : world.slots()) {
        Replica replica = slot.replica;
        BareProcess core = replica == null ? null : replica.core();
        if (replica != null && core != null && replica.isReady()) {
          boolean isQuiet = quiet.holds(world, slot, replica);
          if (isDue) {
            judge(world, replica, core, isQuiet);
          }
        }
      }
    }

    /**
     * @param isQuiet whether the process has worked without faults for a while
     */
    abstract void judge(World world, Replica replica, BareProcess core, boolean isQuiet);

    static boolean isOld(World world, Granted one) {
      return world.scheduler.nowNanos() - one.sinceNanos > BOUND_NANOS;
    }

    /** Returns the time, in true time, up to which a process claims to know all revocations. */
    static long knownAsOf(World world, Replica replica, BareProcess core) {
      return world.scheduler.nowNanos() - replica.nanoTime() + core.knownAsOfNanos();
    }

    /**
     * Returns true if a process must know of an end, because it acknowledged it or claims to know
     * it.
     */
    static boolean mustKnow(
        World world, Replica replica, BareProcess core, Granted one, boolean isQuiet) {
      long born = world.scheduler.nowNanos() - replica.nanoTime();
      return one.by.equals(replica.name())
          || born > one.sinceNanos
          || knownAsOf(world, replica, core) > one.sinceNanos
          || (isQuiet && isOld(world, one));
    }

    static String seconds(World world, Granted one) {
      return (world.scheduler.nowNanos() - one.sinceNanos) / 1_000_000 + " ms";
    }
  }

  /** A process's answer to a token. */
  private enum Reply {
    ACCEPTED,
    REFUSED,
    /** Its knowledge is too old to decide. */
    STALE
  }

  private static Reply present(BareProcess core, String header) {
    try {
      core.authenticator().authenticate(header);
      return Reply.ACCEPTED;
    } catch (ApiException e) {
      return e.code() == ErrorCode.OVERLOADED ? Reply.STALE : Reply.REFUSED;
    }
  }

  /**
   * A revoked token is rejected by the process that revoked it, by processes started later, that
   * claim to know as much, or that have worked for a while; a process that rejected it never
   * accepts it again. A minted token is accepted under the same conditions. The bound is the delay
   * of a change.
   */
  static final class TokensEndInTime extends Watched {
    @Override
    void judge(World world, Replica replica, BareProcess core, boolean isQuiet) {
      for (Pass pass : world.access.passes()) {
        if (pass.fate == Fate.IN_DOUBT) {
          continue;
        }
        Reply reply = present(core, pass.header);
        if (reply == Reply.STALE && isQuiet) {
          throw violated("{} is healthy and reports stale knowledge", replica.name());
        }
        boolean isEnded = pass.fate == Fate.ENDED;
        if (isEnded && reply == Reply.REFUSED) {
          pass.refusedBy.add(replica.name());
        }
        if (isEnded
            && reply == Reply.ACCEPTED
            && (pass.refusedBy.contains(replica.name())
                || mustKnow(world, replica, core, pass, isQuiet))) {
          throw violated(
              "{} accepts token {}, revoked at {} {} ago",
              replica.name(),
              pass.tokenId,
              pass.by,
              seconds(world, pass));
        }
        if (!isEnded
            && reply == Reply.REFUSED
            && (pass.by.equals(replica.name()) || (isQuiet && isOld(world, pass)))) {
          throw violated(
              "{} rejects token {}, minted at {} {} ago",
              replica.name(),
              pass.tokenId,
              pass.by,
              seconds(world, pass));
        }
      }
    }
  }

  /** The same for members, and for their applications' tokens while the members may not act. */
  static final class MembersEndInTime extends Watched {
    @Override
    void judge(World world, Replica replica, BareProcess core, boolean isQuiet) {
      for (Person person : world.access.people()) {
        boolean isActive = core.members().isActive(person.organization, person.username);
        if (person.fate == Fate.ENDED && mustKnow(world, replica, core, person, isQuiet)) {
          if (isActive) {
            throw violated(
                "{} admits {}, ended at {} {} ago",
                replica.name(),
                person.username,
                person.by,
                seconds(world, person));
          }
          String header = person.header;
          if (header != null && present(core, header) == Reply.ACCEPTED) {
            throw violated(
                "{} accepts a token of {}, ended at {} {} ago",
                replica.name(),
                person.username,
                person.by,
                seconds(world, person));
          }
        }
        if (person.fate == Fate.LIVE && !isActive && isQuiet && isOld(world, person)) {
          throw violated(
              "{} does not know {}, admitted at {} {} ago",
              replica.name(),
              person.username,
              person.by,
              seconds(world, person));
        }
      }
    }
  }

  /**
   * A registered ssh key is listed at once by the process that registered it, and within the bound
   * by every process that has worked for a while; a revoked one disappears likewise.
   */
  static final class KeysAreInForceInTime extends Watched {
    @Override
    void judge(World world, Replica replica, BareProcess core, boolean isQuiet) {
      Map<String, Set<String>> shown = new HashMap<>();
      for (AccessClients.Key key : world.access.keys()) {
        boolean isDue = key.by.equals(replica.name()) || (isQuiet && isOld(world, key));
        if (key.fate == Fate.IN_DOUBT || !isDue) {
          continue;
        }
        String cluster = key.cluster == null ? key.organization + "-c0" : key.cluster;
        Set<String> of = shown.computeIfAbsent(cluster, name -> shown(replica, core, name));
        if (of.contains(key.keyId) != (key.fate == Fate.LIVE)) {
          throw violated(
              "{} has key {} for {}: {}, which is {} since {} at {}",
              replica.name(),
              key.keyId,
              cluster,
              of.contains(key.keyId),
              key.fate,
              seconds(world, key),
              key.by);
        }
      }
    }

    private static Set<String> shown(Replica replica, BareProcess core, String cluster) {
      Set<String> ids = new TreeSet<>();
      Clients.shown(replica, cluster)
          .ifPresent(
              found -> core.keys().keysFor(found).stream().map(SshKey::keyId).forEach(ids::add));
      return ids;
    }
  }

  /** Acknowledged entities are stored, and certainly rejected ones are not. */
  static final class AnswersAreTrue extends Invariant {
    @Override
    void atRest(World world) {
      MemoryEngine engine = world.server.engine();
      for (Pass pass : world.access.passes()) {
        String table = pass.organization.isEmpty() ? "operator_token" : "token";
        check(engine, table, "token_id", pass.tokenId, pass);
      }
      for (AccessClients.Key key : world.access.keys()) {
        check(engine, "ssh_key", "key_id", key.keyId, key);
      }
      world
          .access
          .refusedNames()
          .forEach(
              (name, where) -> {
                if (engine.number("SELECT COUNT(*) FROM " + where + " = ?", name) > 0) {
                  throw violated("{} was rejected, and is stored: {}", name, where);
                }
              });
      for (String line : world.access.refusedMaterial()) {
        if (engine.number("SELECT COUNT(*) FROM ssh_key WHERE public_key = ?", line) > 0) {
          throw violated("the key {} was rejected and is stored", line);
        }
      }
    }

    private void check(
        MemoryEngine engine, String table, String column, String id, Granted granted) {
      List<Boolean> live =
          engine.query(
              "SELECT revoked_at IS NULL AS found FROM " + table + " WHERE " + column + " = ?",
              List.of(id),
              row -> row.integer("found") == 1);
      if (live.isEmpty()
          || (granted.fate != Fate.IN_DOUBT && live.get(0) != (granted.fate == Fate.LIVE))) {
        throw violated("{} {} is {} and stored as live: {}", table, id, granted.fate, live);
      }
    }
  }

  /**
   * A tenant's machine has exactly the keys that its allocation was granted with, and has them
   * before the allocation is active. It has none while the allocation is not ready and its keys are
   * due, because nobody may work on a node that waits for the rest of its gang and is not billed.
   */
  static final class MachinesHaveTheirKeys extends Invariant {
    private static final long SELDOM_SECONDS = 20;

    @Override
    void everySecond(World world) {
      if (world.scheduler.nowMillis() / 1_000 % SELDOM_SECONDS == 0) {
        judge(world, false);
      }
    }

    @Override
    void atRest(World world) {
      judge(world, true);
    }

    private void judge(World world, boolean isAtRest) {
      MemoryEngine engine = world.server.engine();
      world
          .machines
          .all()
          .forEach(
              (id, machine) -> {
                String tenant = machine.tenant;
                if (tenant != null) {
                  judge(engine, id, tenant, machine.keys, isAtRest);
                }
              });
    }

    private void judge(
        MemoryEngine engine, String id, String tenant, List<String> keys, boolean isAtRest) {
      String due =
          "SELECT COUNT(*) FROM allocation WHERE keys_due = 1 AND allocation_id = '" + tenant;
      if (engine.number(due + "' AND active_at IS NOT NULL") > 0) {
        throw violated("{} is active, and its keys are due", tenant);
      }
      if (keys.isEmpty() && engine.number(due + "'") > 0) {
        return;
      }
      // A ready allocation has them between their writing and the answer to it.
      String waits =
          due + "' AND state = 'PROVISIONING'" + (isAtRest ? "" : " AND ready_at IS NULL");
      if (engine.number(waits) > 0) {
        throw violated("{} has keys {} for {}, which waits", id, keys, tenant);
      }
      List<String> granted = new ArrayList<>();
      engine
          .query(
              "SELECT key_ids FROM allocation WHERE allocation_id = ?",
              List.of(tenant),
              row -> row.text("key_ids"))
          .forEach(
              ids -> {
                for (String keyId : ids.split(" ", -1)) {
                  granted.addAll(
                      engine.query(
                          "SELECT public_key FROM ssh_key WHERE key_id = ?",
                          List.of(keyId),
                          row -> row.text("public_key")));
                }
              });
      if (!new TreeSet<>(granted).equals(new TreeSet<>(keys)) || granted.size() != keys.size()) {
        throw violated("{} has keys {} for {}, granted with {}", id, keys, tenant, granted);
      }
    }
  }

  /** A retired organization has no live token and, at rest, no machine. */
  static final class RetiredHoldNothing extends Invariant {
    @Override
    void atRest(World world) {
      for (String organization : world.access.retirements().keySet()) {
        MemoryEngine engine = world.server.engine();
        boolean isRetired =
            engine.number(
                    "SELECT COUNT(*) FROM org WHERE org_id = ? AND retired_at IS NOT NULL",
                    organization)
                == 1;
        if (!isRetired && world.access.retirements().get(organization) == Fate.ENDED) {
          throw violated("{} is not retired, which was acknowledged", organization);
        }
        if (!isRetired) {
          continue;
        }
        long tokens =
            engine.number(
                "SELECT COUNT(*) FROM token WHERE org_id = ? AND revoked_at IS NULL", organization);
        List<String> held =
            engine.query(
                "SELECT node_id FROM allocation a JOIN cluster c ON c.name = a.cluster"
                    + " WHERE c.org_id = ? AND a.gone_at IS NULL",
                List.of(organization),
                row -> row.text("node_id"));
        if (tokens > 0 || !held.isEmpty()) {
          throw violated(
              "{} is retired and has {} live tokens and machines {}", organization, tokens, held);
        }
      }
    }
  }

  /** At rest the memory of every process equals the store. */
  static final class MirrorsEqualTheStore extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    /** A change may be in progress even at rest; a difference in every attempt is an error. */
    private static final int ATTEMPTS = 3;

    private static final long PATIENCE_NANOS = 3_000_000_000L;

    @Override
    void atRest(World world) {
      Map<String, Set<String>> differing = compare(world);
      for (int i = 1; i < ATTEMPTS && !differing.isEmpty(); i++) {
        Map<String, Set<String>> again = compare(world);
        differing.keySet().retainAll(again.keySet());
        differing.forEach((mirror, keys) -> keys.retainAll(again.get(mirror)));
        differing.values().removeIf(Set::isEmpty);
      }
      if (!differing.isEmpty()) {
        throw violated("these differ from the store: {}", differing);
      }
    }

    private Map<String, Set<String>> compare(World world) {
      Map<String, Set<String>> differing = new TreeMap<>();
      int[] open = new int[1];
      for (Replica replica : world.ready()) {
        replica.doNow(
            () -> {
              BareProcess core = replica.core();
              if (core != null) {
                new LinkedHashMap<>(core.mirrors())
                    .forEach(
                        (topic, mirror) -> {
                          open[0]++;
                          Set<String> keys = new TreeSet<>();
                          slice(mirror.compare(), keys)
                              .onSuccess(
                                  over -> {
                                    open[0]--;
                                    if (!keys.isEmpty()) {
                                      differing.put(replica.name() + " " + topic, keys);
                                    }
                                  });
                        });
              }
            });
      }
      long end = world.scheduler.nowNanos() + PATIENCE_NANOS;
      while (world.step(end)) {
        world.failIfViolated();
      }
      if (open[0] > 0) {
        throw violated("{} mirrors could not be compared", open[0]);
      }
      return differing;
    }

    private static Future<Void> slice(Mirror.Comparison comparison, Set<String> keys) {
      return comparison
          .next()
          .compose(
              found -> {
                if (found.isEmpty()) {
                  return Future.succeededFuture();
                }
                keys.addAll(found.get());
                return slice(comparison, keys);
              });
    }
  }

  /**
   * While nothing is wrong, no process finds a change that the feed did not deliver. A process may
   * find a change of its own commit before the late answer to that commit.
   */
  static final class NothingIsUntold extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    private final Quiet quiet = new Quiet();
    private final Map<String, Long> known = new HashMap<>();

    @Override
    void everySecond(World world) {
      for (World.Slot slot : world.slots()) {
        Replica replica = slot.replica;
        BareProcess core = replica == null ? null : replica.core();
        if (replica == null || core == null || !replica.isReady()) {
          continue;
        }
        boolean isQuiet = quiet.holds(world, slot, replica);
        long before = known.getOrDefault(replica.name(), 0L);
        known.put(replica.name(), core.missedChanges());
        if (isQuiet && core.missedChanges() > before) {
          throw violated(
              "{} found {} changes that the feed did not deliver",
              replica.name(),
              core.missedChanges());
        }
      }
    }
  }
}
