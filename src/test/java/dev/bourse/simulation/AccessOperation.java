package dev.bourse.simulation;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;

/** Operators' operations on access, and members' on their keys. */
@SuppressWarnings("ImmutableEnumChecker") // lambdas without state.
enum AccessOperation implements PlanAction {
  /** Tokens of an organization are minted, and mostly revoked soon after, through any process. */
  TOKEN(
      (world, random) -> {
        String organization = organization(world, random);
        for (int i = random.nextInt(1, 4); i > 0; i--) {
          ClientOperation.ready(world, random)
              .ifPresent(
                  process ->
                      world.access.mint(
                          process, organization, pass -> revokeLater(world, random, pass)));
        }
      }),

  /** The same for an operator's token. */
  OPERATOR_TOKEN(
      (world, random) ->
          ClientOperation.ready(world, random)
              .ifPresent(
                  process ->
                      world.access.mintOperator(
                          process, pass -> revokeLater(world, random, pass)))),

  /** A token that may already be revoked is revoked. */
  REVOKE(
      (world, random) -> {
        List<AccessClients.Pass> passes = world.access.passes();
        if (!passes.isEmpty()) {
          AccessClients.Pass pass = passes.get(random.nextInt(passes.size()));
          ClientOperation.ready(world, random)
              .ifPresent(process -> world.access.revoke(process, pass));
        }
      }),

  /** A member is added. */
  ADD_MEMBER(
      (world, random) ->
          ClientOperation.ready(world, random)
              .ifPresent(process -> world.access.addMember(process, organization(world, random)))),

  /** A member is suspended, reinstated or removed. */
  CHANGE_MEMBER(
      (world, random) -> {
        List<AccessClients.Person> idle =
            world.access.people().stream().filter(one -> !one.isBusy).toList();
        Optional<Replica> process = ClientOperation.ready(world, random);
        if (!idle.isEmpty() && process.isPresent()) {
          AccessClients.Person person = idle.get(random.nextInt(idle.size()));
          if (person.fate == AccessClients.Fate.ENDED) {
            world.access.reinstate(process.get(), person);
          } else if (person.fate == AccessClients.Fate.LIVE) {
            world.access.end(process.get(), person, random.nextInt(3) == 0);
          }
        }
      }),

  /** An organization is retired, rarely, because it is unusable afterwards. */
  RETIRE(
      (world, random) -> {
        if (random.nextInt(6) == 0) {
          ClientOperation.ready(world, random)
              .ifPresent(process -> world.access.retire(process, organization(world, random)));
        }
      }),

  /** A member registers an ssh key, for all clusters or one. */
  ADD_KEY(
      (world, random) ->
          ClientOperation.ready(world, random)
              .ifPresent(
                  process -> {
                    String cluster = ClientOperation.anyCluster(world, random);
                    world.access.addKey(
                        process,
                        cluster.substring(0, cluster.indexOf('-')),
                        random.nextBoolean() ? cluster : null,
                        random);
                  })),

  /** A key is revoked. */
  REVOKE_KEY(
      (world, random) -> {
        List<AccessClients.Key> keys = world.access.keys();
        if (!keys.isEmpty()) {
          AccessClients.Key key = keys.get(random.nextInt(keys.size()));
          ClientOperation.ready(world, random)
              .ifPresent(process -> world.access.revokeKey(process, key));
        }
      });

  private final BiConsumer<World, SplittableRandom> what;

  AccessOperation(BiConsumer<World, SplittableRandom> what) {
    this.what = what;
  }

  @Override
  public void perform(World world, SplittableRandom random) {
    what.accept(world, random);
  }

  private static String organization(World world, SplittableRandom random) {
    List<String> ids = world.scale.organizationIds();
    return ids.get(random.nextInt(ids.size()));
  }

  private static void revokeLater(World world, SplittableRandom random, AccessClients.Pass pass) {
    if (random.nextInt(3) > 0) {
      world.scheduler.afterMillis(
          random.nextLong(10, 20_000),
          () ->
              ClientOperation.ready(world, random)
                  .ifPresent(process -> world.access.revoke(process, pass)));
    }
  }
}
