package dev.bourse.simulation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The steps of a simulation with their times, all drawn from a seed in advance. Steps can be left
 * out without changing the others, which is how a plan is shrunk.
 *
 * @param seed the source of the plan, and of all later random choices
 * @param lengthMillis how long steps continue
 */
record Plan(long seed, Scale scale, long lengthMillis, List<Step> steps) {
  /**
   * One step.
   *
   * @param number its position in the whole plan
   * @param seed the source of its choices
   */
  record Step(int number, long atMillis, PlanAction deed, long seed) {
    @Override
    public String toString() {
      return number + ": at " + atMillis + " ms " + deed.name();
    }
  }

  /**
   * The reciprocal share of plans that last for hours with the same number of steps, because money
   * is billed by the hour.
   */
  private static final int LONG_ONE_IN = 40;

  /**
   * Returns the plan of a seed. Each plan has some kinds of operations and faults and not the
   * others, so that kinds that hide each other are separate in some plans, and one kind is frequent
   * in others.
   */
  static Plan of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Scale scale = Scale.small(random);
    boolean isLong = random.nextInt(LONG_ONE_IN) == 0;
    long length = isLong ? random.nextLong(1_200_000, 9_000_000) : random.nextLong(60_000, 360_000);
    List<Fault> faults = new ArrayList<>();
    for (Fault fault : Fault.values()) {
      if (random.nextInt(3) == 0) {
        faults.add(fault);
      }
    }
    List<PlanAction> kinds = some(ClientOperation.all(), random);
    List<PlanAction> drawn = new ArrayList<>();
    int operations = random.nextInt(5, 60);
    for (int i = 0; i < operations; i++) {
      drawn.add(
          random.nextInt(3) > 0
              ? ClientOperation.DECLARE
              : kinds.get(random.nextInt(kinds.size())));
    }
    int troubles = faults.isEmpty() ? 0 : random.nextInt(1, 15);
    for (int i = 0; i < troubles; i++) {
      drawn.add(faults.get(random.nextInt(faults.size())));
    }
    List<Step> steps = new ArrayList<>();
    for (PlanAction deed : drawn) {
      steps.add(new Step(0, random.nextLong(length), deed, random.nextLong()));
    }
    steps.sort(Comparator.comparingLong(Step::atMillis));
    List<Step> numbered = new ArrayList<>();
    for (Step step : steps) {
      numbered.add(new Step(numbered.size(), step.atMillis, step.deed, step.seed));
    }
    return new Plan(seed, scale, length, numbered);
  }

  /** Draws a few of the kinds: each kind of a plan is frequent. */
  private static List<PlanAction> some(List<PlanAction> all, SplittableRandom random) {
    List<PlanAction> left = new ArrayList<>(all);
    List<PlanAction> drawn = new ArrayList<>();
    for (int i = random.nextInt(1, 6); i > 0; i--) {
      drawn.add(left.remove(random.nextInt(left.size())));
    }
    return drawn;
  }

  /**
   * Returns a plan without faults in a large world, for measurements: each cluster declares every
   * five minutes.
   */
  static Plan large(long seed, long lengthMillis) {
    SplittableRandom random = new SplittableRandom(seed);
    Scale scale = new Scale(3, 20, 10, 150);
    List<Step> steps = new ArrayList<>();
    long between = 300_000 / scale.clusters().size();
    for (long at = 0; at < lengthMillis; at += between) {
      steps.add(new Step(steps.size(), at, ClientOperation.DECLARE, random.nextLong()));
    }
    return new Plan(seed, scale, lengthMillis, steps);
  }

  /** Returns the plan with these steps only. */
  Plan only(Collection<Integer> numbers) {
    return new Plan(
        seed,
        scale,
        lengthMillis,
        steps.stream().filter(step -> numbers.contains(step.number)).toList());
  }
}
