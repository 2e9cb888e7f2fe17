package dev.bourse.simulation;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;

/** Operations on money, and audited reads. */
enum MoneyOperation implements PlanAction {
  /** An operator books a credit, a payment or an adjustment. */
  BOOK(
      (world, random) ->
          ClientOperation.ready(world, random)
              .ifPresent(
                  process -> world.bookings.book(process, anyOrganization(world, random), random))),

  /** An operator sets or deletes a limit. */
  LIMIT(
      (world, random) ->
          ClientOperation.ready(world, random)
              .ifPresent(
                  process ->
                      world.bookings.limit(process, anyOrganization(world, random), random))),

  /** A client follows its organization's trail. */
  FOLLOW(
      (world, random) -> {
        String organization = anyOrganization(world, random);
        long at = 0;
        for (int i = 0; i < 10; i++) {
          SplittableRandom which = random.split();
          world.scheduler.afterMillis(
              at,
              () ->
                  ClientOperation.ready(world, which)
                      .ifPresent(process -> world.bookings.readTrail(process, organization)));
          at += random.nextLong(20, 3_000);
        }
      }),

  /** A client reads its clusters for a while. */
  READ(
      (world, random) -> {
        long at = 0;
        for (int i = 0; i < 8; i++) {
          String cluster = ClientOperation.anyCluster(world, random);
          SplittableRandom which = random.split();
          world.scheduler.afterMillis(
              at,
              () ->
                  ClientOperation.ready(world, which)
                      .ifPresent(process -> world.bookings.read(process, cluster)));
          at += random.nextLong(20, 3_000);
        }
      });

  static List<PlanAction> all() {
    return List.of(values());
  }

  @SuppressWarnings("ImmutableEnumChecker") // lambdas without state.
  private final BiConsumer<World, SplittableRandom> what;

  MoneyOperation(BiConsumer<World, SplittableRandom> what) {
    this.what = what;
  }

  @Override
  public void perform(World world, SplittableRandom random) {
    what.accept(world, random);
  }

  private static String anyOrganization(World world, SplittableRandom random) {
    List<String> organizations = world.scale.organizationIds();
    return organizations.get(random.nextInt(organizations.size()));
  }
}
