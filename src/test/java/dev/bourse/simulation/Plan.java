package dev.bourse.simulation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What is done in a simulation and when, all of it drawn from a seed before it begins. Steps can be
 * left out, and the others stay as they were: that is how a plan is shrunk.
 *
 * @param seed what it was drawn from; also decides everything that is left to chance later
 * @param lengthMillis how long steps go on
 */
record Plan(long seed, Scale scale, long lengthMillis, List<Step> steps) {
  /**
   * One thing that is done.
   *
   * @param number its place in the whole plan
   * @param seed what it draws from
   */
  record Step(int number, long atMillis, Deed deed, long seed) {
    @Override
    public String toString() {
      return number + ": at " + atMillis + " ms " + deed.name();
    }
  }

  /** One plan in so many goes on for hours with as few steps: money is billed by the hour. */
  private static final int LONG_ONE_IN = 40;

  /**
   * The plan of a seed. Each plan has some kinds of operations and faults and not the others: two
   * that would hide each other are apart in some plans, and in others one kind comes often.
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
    List<Deed> kinds = some(Operation.all(), random);
    List<Deed> drawn = new ArrayList<>();
    int operations = random.nextInt(5, 60);
    for (int i = 0; i < operations; i++) {
      drawn.add(
          random.nextInt(3) > 0 ? Operation.DECLARE : kinds.get(random.nextInt(kinds.size())));
    }
    int troubles = faults.isEmpty() ? 0 : random.nextInt(1, 15);
    for (int i = 0; i < troubles; i++) {
      drawn.add(faults.get(random.nextInt(faults.size())));
    }
    List<Step> steps = new ArrayList<>();
    for (Deed deed : drawn) {
      steps.add(new Step(0, random.nextLong(length), deed, random.nextLong()));
    }
    steps.sort(Comparator.comparingLong(Step::atMillis));
    List<Step> numbered = new ArrayList<>();
    for (Step step : steps) {
      numbered.add(new Step(numbered.size(), step.atMillis, step.deed, step.seed));
    }
    return new Plan(seed, scale, length, numbered);
  }

  /** A few of the kinds: whatever is asked for in a plan is asked for often. */
  private static List<Deed> some(List<Deed> all, SplittableRandom random) {
    List<Deed> left = new ArrayList<>(all);
    List<Deed> drawn = new ArrayList<>();
    for (int i = random.nextInt(1, 6); i > 0; i--) {
      drawn.add(left.remove(random.nextInt(left.size())));
    }
    return drawn;
  }

  /**
   * A plan without faults in a large world, to be measured: each cluster declares every five
   * minutes.
   */
  static Plan large(long seed, long lengthMillis) {
    SplittableRandom random = new SplittableRandom(seed);
    Scale scale = new Scale(3, 20, 10, 150);
    List<Step> steps = new ArrayList<>();
    long between = 300_000 / scale.clusters().size();
    for (long at = 0; at < lengthMillis; at += between) {
      steps.add(new Step(steps.size(), at, Operation.DECLARE, random.nextLong()));
    }
    return new Plan(seed, scale, lengthMillis, steps);
  }

  /** The same with these steps alone. */
  Plan only(Collection<Integer> numbers) {
    return new Plan(
        seed,
        scale,
        lengthMillis,
        steps.stream().filter(step -> numbers.contains(step.number)).toList());
  }
}
