package dev.bourse.simulation;

import dev.bourse.app.BareProcess;
import dev.bourse.core.ApiError;
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

/** What has to hold of who may call, of keys, organizations and all that is held in memory. */
final class AccessInvariants {
  private AccessInvariants() {}

  /** A fresh one of each. */
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

  /** For how long nothing has been wrong with a process or its way to the database. */
  private static final class Quiet {
    /** The time-out of what was lost, and as long again for what was tried meanwhile. */
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

  /** Judges each process now and then, and often while something has just changed. */
  private abstract static class Watched extends Invariant {
    /** A change is told within a second; a lost wake-up or a failed reading may cost half a one. */
    static final long BOUND_NANOS = 2_000_000_000L;

    /** Tokens are checked by digests: all of them each second would be most of a simulation. */
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
     * @param isQuiet whether nothing has been wrong with the process for a while
     */
    abstract void judge(World world, Replica replica, BareProcess core, boolean isQuiet);

    static boolean isOld(World world, Granted one) {
      return world.scheduler.nowNanos() - one.sinceNanos > BOUND_NANOS;
    }

    /** Up to when, in true time, a process claims to know whatever was revoked. */
    static long knownAsOf(World world, Replica replica, BareProcess core) {
      return world.scheduler.nowNanos() - replica.nanoTime() + core.knownAsOfNanos();
    }

    /** Whether a process knows of the end of something, by what it acknowledged or claims. */
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

  /** How a process answers a token. */
  private enum Reply {
    ACCEPTED,
    REFUSED,
    /** It knows too little to tell. */
    STALE
  }

  private static Reply present(BareProcess core, String header) {
    try {
      core.authenticator().authenticate(header);
      return Reply.ACCEPTED;
    } catch (ApiError e) {
      return e.code() == ErrorCode.OVERLOADED ? Reply.STALE : Reply.REFUSED;
    }
  }

  /**
   * A revoked token is refused by whoever revoked it, was started later, claims to know as much or
   * has been well for a while, and never accepted by who has refused it; one that was minted is
   * accepted likewise. The bound is what a change takes to be told.
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
          throw violated("{} is well and says it knows too little", replica.name());
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
              "{} refuses token {}, minted at {} {} ago",
              replica.name(),
              pass.tokenId,
              pass.by,
              seconds(world, pass));
        }
      }
    }
  }

  /** The same of members, and of what applications hold of theirs while they may not act. */
  static final class MembersEndInTime extends Watched {
    @Override
    void judge(World world, Replica replica, BareProcess core, boolean isQuiet) {
      for (Person person : world.access.people()) {
        boolean isActive = core.members().isActive(person.organization, person.username);
        if (person.fate == Fate.ENDED && mustKnow(world, replica, core, person, isQuiet)) {
          if (isActive) {
            throw violated(
                "{} lets {} act, ended at {} {} ago",
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
              "{} does not know {}, let in at {} {} ago",
              replica.name(),
              person.username,
              person.by,
              seconds(world, person));
        }
      }
    }
  }

  /**
   * A registered ssh key is in the list of who registered it at once, and of every process that has
   * been well for a while within the bound; a revoked one likewise is not.
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

  /** What was acknowledged is stored, and what was refused for certain is not. */
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
                  throw violated("{} was refused, and is stored: {}", name, where);
                }
              });
      for (String line : world.access.refusedMaterial()) {
        if (engine.number("SELECT COUNT(*) FROM ssh_key WHERE public_key = ?", line) > 0) {
          throw violated("the key {} was refused and is stored", line);
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
   * A tenant finds exactly the keys on its machine that its allocation was granted with, and has
   * them before the allocation is active. It has none while the allocation is not ready and its
   * keys are due: nobody works on a node that waits for the rest of its gang and is not billed.
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
      // An allocation that is ready has them between their writing and the word of it.
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

  /** At rest every process holds in memory what is stored. */
  static final class MirrorsEqualTheStore extends Invariant {
    /** Something may be under way even at rest; what differs each time is wrong. */
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
   * Nobody finds a change that the feed did not tell while nothing is wrong. Of its own commit,
   * whose answer is late, a process may find the change before it knows that it made it.
   */
  static final class NothingIsUntold extends Invariant {
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
        known.put(replica.name(), core.untold());
        if (isQuiet && core.untold() > before) {
          throw violated("{} found {} changes that nobody told", replica.name(), core.untold());
        }
      }
    }
  }
}
