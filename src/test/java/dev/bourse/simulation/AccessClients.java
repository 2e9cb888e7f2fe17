package dev.bourse.simulation;

import dev.bourse.access.OperatorReach;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.app.BareProcess;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.org.TokenService;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Operators who manage access, and the answers they received. */
final class AccessClients {
  private static final String ACTOR = "operator:simulation";

  /** The known state of an entity that can be revoked. */
  enum Fate {
    LIVE,
    /** Its end was requested and the outcome is not known. */
    IN_DOUBT,
    ENDED
  }

  /** An entity that was acknowledged, and possibly its end. */
  abstract static class Granted {
    /** The process that acknowledged its present state. */
    String by;

    /** When it got its present state, in true time. */
    long sinceNanos;

    Fate fate = Fate.LIVE;
    private int doubts;

    Granted(String by, long sinceNanos) {
      this.by = by;
      this.sinceNanos = sinceNanos;
    }

    /** Records a request for its end. */
    void asked() {
      doubts++;
      if (fate == Fate.LIVE) {
        fate = Fate.IN_DOUBT;
      }
    }

    void ended(String process, long nowNanos) {
      if (fate != Fate.ENDED) {
        fate = Fate.ENDED;
        by = process;
        sinceNanos = nowNanos;
      }
    }

    /** Records that a request for its end has certainly failed. */
    void refused(long nowNanos) {
      if (--doubts == 0 && fate == Fate.IN_DOUBT) {
        fate = Fate.LIVE;
        by = "";
        sinceNanos = nowNanos;
      }
    }
  }

  /** A token with a known secret. */
  static final class Pass extends Granted {
    /** Its organization; empty for an operator's. */
    final String organization;

    final String tokenId;
    final String header;

    /** Processes that rejected it after its end was acknowledged. */
    final Set<String> refusedBy = new HashSet<>();

    Pass(String organization, String tokenId, String secret, String by, long sinceNanos) {
      super(by, sinceNanos);
      this.organization = organization;
      this.tokenId = tokenId;
      header = "Bearer " + secret;
    }
  }

  /** A registered ssh key. */
  static final class Key extends Granted {
    final String organization;
    final String keyId;
    final @Nullable String cluster;

    Key(String organization, String keyId, @Nullable String cluster, String by, long sinceNanos) {
      super(by, sinceNanos);
      this.organization = organization;
      this.keyId = keyId;
      this.cluster = cluster;
    }
  }

  /** A member: live while they may act. */
  static final class Person extends Granted {
    final String organization;
    final String username;
    boolean isBusy;

    /** The access token of an application that acts for them; null without one. */
    @Nullable String header;

    Person(String organization, String username, String by, long sinceNanos) {
      super(by, sinceNanos);
      this.organization = organization;
      this.username = username;
    }
  }

  private final World world;
  private final List<Pass> passes = new ArrayList<>();
  private final List<Key> keys = new ArrayList<>();
  private final List<Person> people = new ArrayList<>();
  private final List<String> refusedMaterial = new ArrayList<>();
  private final TreeMap<String, String> refusedNames = new TreeMap<>();
  private final TreeMap<String, Fate> retirements = new TreeMap<>();
  private long movedNanos;
  private int names;

  AccessClients(World world) {
    this.world = world;
  }

  List<Pass> passes() {
    return passes;
  }

  List<Key> keys() {
    return keys;
  }

  List<Person> people() {
    return people;
  }

  /** Returns lines of keys that were certainly not stored. */
  List<String> refusedMaterial() {
    return refusedMaterial;
  }

  /** Returns names that were certainly not stored, each with the condition that would find it. */
  SortedMap<String, String> refusedNames() {
    return refusedNames;
  }

  /**
   * Returns organizations whose retirement was requested; {@link Fate#ENDED} once it was
   * acknowledged.
   */
  SortedMap<String, Fate> retirements() {
    return retirements;
  }

  /** Returns when the last change was acknowledged, in true time. */
  long movedNanos() {
    return movedNanos;
  }

  private long now() {
    return world.scheduler.nowNanos();
  }

  /** Returns true if a failure proves that nothing was stored, false if the outcome is unknown. */
  static boolean isCertain(Throwable cause) {
    if (cause instanceof ApiException error) {
      return error.code() != ErrorCode.OVERLOADED && error.code() != ErrorCode.INTERNAL;
    }
    if (cause instanceof StoreUnavailableException unavailable) {
      return !unavailable.mayBeStored();
    }
    // The product's other exceptions are failed guards of commits.
    return cause.getClass().getPackageName().startsWith("dev.bourse.");
  }

  private <T> void call(
      Replica process,
      String what,
      Function<BareProcess, Future<T>> call,
      java.util.function.Consumer<T> done,
      Runnable refused) {
    world.clients.call(
        process,
        what,
        core ->
            Future.succeededFuture(core)
                .compose(call)
                .onSuccess(
                    value -> {
                      movedNanos = now();
                      done.accept(value);
                    })
                .onFailure(
                    e -> {
                      if (isCertain(e)) {
                        refused.run();
                      }
                    }));
  }

  /** Mints a token for an organization. */
  void mint(Replica process, String organization, java.util.function.Consumer<Pass> then) {
    String name = "t" + names++;
    call(
        process,
        "mints a token of " + organization,
        core ->
            core.tokenService()
                .mint(
                    ACTOR,
                    organization,
                    new TokenService.Order(name, EnumSet.allOf(Scope.class), null, null, null)),
        minted ->
            minted(process, organization, minted.token().tokenId(), minted.secret().text(), then),
        () -> refusedNames.put(name, "token WHERE name"));
  }

  /** Mints an operator's token. */
  void mintOperator(Replica process, java.util.function.Consumer<Pass> then) {
    String name = "o" + names++;
    call(
        process,
        "mints an operator's token",
        core -> core.operatorTokens().mint(ACTOR, name, OperatorReach.ALL, null),
        minted -> minted(process, "", minted.token().tokenId(), minted.secret().text(), then),
        () -> refusedNames.put(name, "operator_token WHERE name"));
  }

  private void minted(
      Replica process,
      String organization,
      String tokenId,
      String secret,
      java.util.function.Consumer<Pass> then) {
    Pass pass = new Pass(organization, tokenId, secret, process.name(), now());
    if (retirements.containsKey(organization)) {
      pass.asked();
    }
    passes.add(pass);
    then.accept(pass);
  }

  /** Revokes a token. */
  void revoke(Replica process, Pass pass) {
    pass.asked();
    call(
        process,
        "revokes token " + pass.tokenId,
        core ->
            pass.organization.isEmpty()
                ? core.operatorTokens().revoke(ACTOR, pass.tokenId)
                : core.tokenService().revoke(ACTOR, pass.organization, pass.tokenId),
        at -> pass.ended(process.name(), now()),
        () -> pass.refused(now()));
  }

  /** Adds a member, who at once authorizes an application. */
  void addMember(Replica process, String organization) {
    String username = "u" + names++;
    call(
        process,
        "adds " + username + " to " + organization,
        core ->
            core.roster()
                .add(ACTOR, organization, username, username + "@example.com", username)
                .map(added -> core.issueMemberToken(organization, username)),
        token -> {
          Person person = new Person(organization, username, process.name(), now());
          person.header = "Bearer " + token;
          if (retirements.containsKey(organization)) {
            person.asked();
          }
          people.add(person);
        },
        () -> refusedNames.put(username, "member WHERE username"));
  }

  /** Suspends or removes a member without another change in progress. */
  void end(Replica process, Person person, boolean isRemoval) {
    person.isBusy = true;
    person.asked();
    call(
        process,
        (isRemoval ? "removes " : "suspends ") + person.username,
        core ->
            isRemoval
                ? core.roster().remove(ACTOR, person.organization, person.username).mapEmpty()
                : core.roster()
                    .update(
                        ACTOR,
                        person.organization,
                        person.username,
                        Optional.of(true),
                        Optional.empty(),
                        Optional.empty())
                    .mapEmpty(),
        done -> {
          person.ended(process.name(), now());
          // A removed member stays removed; a suspended one can be reinstated.
          person.isBusy = isRemoval;
        },
        () -> {
          person.isBusy = false;
          person.refused(now());
        });
  }

  /** Reinstates a suspended member. */
  void reinstate(Replica process, Person person) {
    person.isBusy = true;
    // The state is unknown until the answer; then a new entity is watched.
    people.remove(person);
    call(
        process,
        "lets " + person.username + " in again",
        core ->
            core.roster()
                .update(
                    ACTOR,
                    person.organization,
                    person.username,
                    Optional.of(false),
                    Optional.empty(),
                    Optional.empty())
                .mapEmpty(),
        done -> {
          Person again = new Person(person.organization, person.username, process.name(), now());
          if (retirements.containsKey(person.organization)) {
            again.asked();
          }
          people.add(again);
        },
        () -> {});
  }

  /** Retires an organization, which ends everything it was granted. */
  void retire(Replica process, String organization) {
    retirements.putIfAbsent(organization, Fate.IN_DOUBT);
    List<Granted> all = new ArrayList<>();
    passes.stream().filter(p -> p.organization.equals(organization)).forEach(all::add);
    people.stream().filter(p -> p.organization.equals(organization)).forEach(all::add);
    keys.stream().filter(k -> k.organization.equals(organization)).forEach(all::add);
    all.forEach(Granted::asked);
    call(
        process,
        "retires " + organization,
        core -> core.orgs().retire(ACTOR, organization),
        done -> {
          retirements.put(organization, Fate.ENDED);
          all.forEach(one -> one.ended(process.name(), now()));
        },
        () -> {});
  }

  /** Registers a new ssh key. */
  void addKey(
      Replica process, String organization, @Nullable String cluster, SplittableRandom random) {
    String line = line(random);
    call(
        process,
        "adds a key to " + organization + (cluster == null ? "" : " for " + cluster),
        core ->
            core.keys()
                .addSshKey(
                    Clients.principal(organization), organization, "k", line, cluster, List.of()),
        added -> {
          Key key = new Key(organization, added.key().keyId(), cluster, process.name(), now());
          if (retirements.containsKey(organization)) {
            key.asked();
          }
          keys.add(key);
        },
        () -> refusedMaterial.add(line));
  }

  /** Revokes an ssh key. */
  void revokeKey(Replica process, Key key) {
    Principal caller = Clients.principal(key.organization);
    key.asked();
    call(
        process,
        "revokes key " + key.keyId,
        core -> core.keys().revokeSshKey(caller, key.organization, key.keyId, List.of()),
        revoked -> key.ended(process.name(), now()),
        () -> key.refused(now()));
  }

  private static String line(SplittableRandom random) {
    byte[] type = "ssh-ed25519".getBytes(StandardCharsets.US_ASCII);
    byte[] key = new byte[32];
    random.nextBytes(key);
    byte[] blob =
        ByteBuffer.allocate(8 + type.length + key.length)
            .putInt(type.length)
            .put(type)
            .putInt(key.length)
            .put(key)
            .array();
    return "ssh-ed25519 " + Base64.getEncoder().encodeToString(blob);
  }
}
