package dev.bourse.simulation;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;

/** What is done with money, and what is read on record. */
enum MoneyOperation implements Deed {
  /** An operator books a credit, a payment or an adjustment. */
  BOOK(
      (world, random) ->
          Operation.ready(world, random)
              .ifPresent(
                  process -> world.bookings.book(process, anyOrganization(world, random), random))),

  /** An operator sets a limit or takes it away. */
  LIMIT(
      (world, random) ->
          Operation.ready(world, random)
              .ifPresent(
                  process ->
                      world.bookings.limit(process, anyOrganization(world, random), random))),

  /** A client follows what is done in its organization. */
  FOLLOW(
      (world, random) -> {
        String organization = anyOrganization(world, random);
        long at = 0;
        for (int i = 0; i < 10; i++) {
          SplittableRandom which = random.split();
          world.scheduler.afterMillis(
              at,
              () ->
                  Operation.ready(world, which)
                      .ifPresent(process -> world.bookings.readTrail(process, organization)));
          at += random.nextLong(20, 3_000);
        }
      }),

  /** A client looks at its clusters for a while. */
  READ(
      (world, random) -> {
        long at = 0;
        for (int i = 0; i < 8; i++) {
          String cluster = Operation.anyCluster(world, random);
          SplittableRandom which = random.split();
          world.scheduler.afterMillis(
              at,
              () ->
                  Operation.ready(world, which)
                      .ifPresent(process -> world.bookings.read(process, cluster)));
          at += random.nextLong(20, 3_000);
        }
      });

  static List<Deed> all() {
    return List.of(values());
  }

  @SuppressWarnings("ImmutableEnumChecker") // What is done has no state of its own.
  private final BiConsumer<World, SplittableRandom> what;

  MoneyOperation(BiConsumer<World, SplittableRandom> what) {
    this.what = what;
  }

  @Override
  public void happen(World world, SplittableRandom random) {
    what.accept(world, random);
  }

  private static String anyOrganization(World world, SplittableRandom random) {
    List<String> organizations = world.scale.organizationIds();
    return organizations.get(random.nextInt(organizations.size()));
  }
}
