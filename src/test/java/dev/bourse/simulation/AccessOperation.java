package dev.bourse.simulation;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;

/** What operators ask about who may call, and members about their keys. */
@SuppressWarnings("ImmutableEnumChecker") // lambdas without state.
enum AccessOperation implements Deed {
  /** Tokens of an organization are minted, and mostly revoked soon after, of whatever process. */
  TOKEN(
      (world, random) -> {
        String organization = organization(world, random);
        for (int i = random.nextInt(1, 4); i > 0; i--) {
          Operation.ready(world, random)
              .ifPresent(
                  process ->
                      world.access.mint(
                          process, organization, pass -> revokeLater(world, random, pass)));
        }
      }),

  /** The same with an operator's token. */
  OPERATOR_TOKEN(
      (world, random) ->
          Operation.ready(world, random)
              .ifPresent(
                  process ->
                      world.access.mintOperator(
                          process, pass -> revokeLater(world, random, pass)))),

  /** A token that may have been revoked already is revoked. */
  REVOKE(
      (world, random) -> {
        List<AccessClients.Pass> passes = world.access.passes();
        if (!passes.isEmpty()) {
          AccessClients.Pass pass = passes.get(random.nextInt(passes.size()));
          Operation.ready(world, random).ifPresent(process -> world.access.revoke(process, pass));
        }
      }),

  /** A member is added. */
  ADD_MEMBER(
      (world, random) ->
          Operation.ready(world, random)
              .ifPresent(process -> world.access.addMember(process, organization(world, random)))),

  /** A member is suspended, let in again or removed. */
  CHANGE_MEMBER(
      (world, random) -> {
        List<AccessClients.Person> idle =
            world.access.people().stream().filter(one -> !one.isBusy).toList();
        Optional<Replica> process = Operation.ready(world, random);
        if (!idle.isEmpty() && process.isPresent()) {
          AccessClients.Person person = idle.get(random.nextInt(idle.size()));
          if (person.fate == AccessClients.Fate.ENDED) {
            world.access.reinstate(process.get(), person);
          } else if (person.fate == AccessClients.Fate.LIVE) {
            world.access.end(process.get(), person, random.nextInt(3) == 0);
          }
        }
      }),

  /** An organization is retired, rarely: nothing can be done with it afterwards. */
  RETIRE(
      (world, random) -> {
        if (random.nextInt(6) == 0) {
          Operation.ready(world, random)
              .ifPresent(process -> world.access.retire(process, organization(world, random)));
        }
      }),

  /** A member registers an ssh key, for all clusters or one. */
  ADD_KEY(
      (world, random) ->
          Operation.ready(world, random)
              .ifPresent(
                  process -> {
                    String cluster = Operation.anyCluster(world, random);
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
          Operation.ready(world, random).ifPresent(process -> world.access.revokeKey(process, key));
        }
      });

  private final BiConsumer<World, SplittableRandom> what;

  AccessOperation(BiConsumer<World, SplittableRandom> what) {
    this.what = what;
  }

  @Override
  public void happen(World world, SplittableRandom random) {
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
              Operation.ready(world, random)
                  .ifPresent(process -> world.access.revoke(process, pass)));
    }
  }
}
