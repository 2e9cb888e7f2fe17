package dev.bourse.auction;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.auction.Supply.FreeNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Enumerates every world of newcomers, up to symmetry: only the ranks of ceilings matter, the order
 * of the bidders matters in ties alone, and organizations are numbered by their first cluster.
 *
 * <p>Run by hand with the number of bidders, ceilings, organizations and nodes, the most nodes that
 * a bidder declares, a part and the number of parts, on the test class path:
 *
 * <pre>for part in $(seq 0 63); do
 *   java -cp ... dev.bourse.auction.SmallWorlds 6 2 3 8 3 $part 64 || break
 * done</pre>
 *
 * <p>It compares the auction with {@link ReferenceAuction} at two ticks, the second one with the
 * granted nodes held and unprotected and the highest bid lowered. {@code 6 2 3 8 2 0 1} has 520,893
 * worlds and takes a minute of one core. {@code 6 2 3 8 3} has 15.5 million, which take half an
 * hour; a run that was stopped goes on with the next part.
 *
 * @param bidders clusters of each world
 * @param ceilings distinct ceilings
 * @param orgs organizations at most
 * @param nodes free nodes at most
 * @param sizes what a bidder may declare; see {@link #sizes}
 * @param part the sets of bids that are tried
 */
record SmallWorlds(int bidders, int ceilings, int orgs, int nodes, List<Size> sizes, Part part) {

  /** A number of nodes, and the minimum of them. */
  record Size(int nodes, int minimum) {
    private boolean bidsForNothing() {
      return minimum > nodes;
    }
  }

  /**
   * Returns all sizes up to so many nodes, and one with a minimum that is more than is declared.
   */
  static List<Size> sizes(int nodes) {
    List<Size> sizes = new ArrayList<>();
    sizes.add(new Size(1, 2));
    for (int size = 1; size <= nodes; size++) {
      for (int minimum = 1; minimum <= size; minimum++) {
        sizes.add(new Size(size, minimum));
      }
    }
    return sizes;
  }

  private static final long RESERVE = 2;

  /** Every n-th set of bids, so that a long run can stop after any part and go on later. */
  static final class Part {
    private final int part;
    private final int parts;
    private long sets;

    Part(int part, int parts) {
      this.part = part;
      this.parts = parts;
    }

    private boolean isNext() {
      return sets++ % parts == part;
    }
  }

  /** Tries a property in every world of the part. */
  void inEach(RandomGenerator random, AuctionWorld.Property property) {
    withKinds(new int[bidders], 0, random, property);
  }

  /** Chooses kinds in ascending order. */
  private void withKinds(
      int[] kinds, int chosen, RandomGenerator random, AuctionWorld.Property property) {
    if (chosen == bidders) {
      if (part.isNext()) {
        withOrgs(kinds, new int[bidders], 0, 0, random, property);
      }
      return;
    }
    for (int kind = chosen == 0 ? 0 : kinds[chosen - 1]; kind < ceilings * sizes.size(); kind++) {
      kinds[chosen] = kind;
      // More bidders that bid for nothing would only repeat the worlds of fewer bidders.
      if (Arrays.stream(kinds, 0, chosen + 1).filter(this::bidsForNothing).count() <= 1) {
        withKinds(kinds, chosen + 1, random, property);
      }
    }
  }

  private boolean bidsForNothing(int kind) {
    return sizes.get(kind % sizes.size()).bidsForNothing();
  }

  /** Chooses organizations, in ascending order for equal bids; a new one takes the next number. */
  private void withOrgs(
      int[] kinds,
      int[] owners,
      int chosen,
      int used,
      RandomGenerator random,
      AuctionWorld.Property property) {
    if (chosen == bidders) {
      for (int count = 0; count <= nodes; count++) {
        // Names break ties, so the order of the names changes from world to world.
        world(kinds, owners, count, random.nextBoolean()).check("a small world", property, random);
      }
      return;
    }
    boolean isAlike = chosen > 0 && kinds[chosen] == kinds[chosen - 1];
    for (int org = isAlike ? owners[chosen - 1] : 0; org < Math.min(orgs, used + 1); org++) {
      owners[chosen] = org;
      withOrgs(kinds, owners, chosen + 1, Math.max(used, org + 1), random, property);
    }
  }

  private AuctionWorld world(int[] kinds, int[] owners, int count, boolean isReversed) {
    List<Bidder> made = new ArrayList<>();
    for (int i = 0; i < bidders; i++) {
      Size size = sizes.get(kinds[i] % sizes.size());
      long ceiling = RESERVE + kinds[i] / sizes.size();
      Bidder bid = AuctionFixture.bid("c" + (isReversed ? bidders - i : i), ceiling, size.nodes());
      made.add(AuctionFixture.gang(size.minimum(), AuctionFixture.of("org" + owners[i], bid)));
    }
    List<FreeNode> free = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      free.add(new FreeNode("n" + i, null));
    }
    return new AuctionWorld(RESERVE, RESERVE + ceilings, made, new Supply(count, free));
  }

  /** The auction decides and prices as the rules do, turn by turn. */
  static void isByTheRules(AuctionWorld world, RandomGenerator random) {
    ReferenceAuction reference = new ReferenceAuction(world);
    Clearing clearing = world.clear();
    assertEquals(reference.unseated(), clearing.unseated());
    assertEquals(reference.reclaims(), Set.copyOf(clearing.reclaims()));
    assertEquals(reference.grants(), clearing.grants());
    assertEquals(reference.prices(), world.prices());
    assertEquals(reference.admissionPrice(), clearing.admissionCents());
  }

  private static void isByTheRulesTwice(AuctionWorld world, RandomGenerator random) {
    isByTheRules(world, random);
    AuctionWorld next = world.unshielded(world.clear());
    isByTheRules(
        next.bidders().stream()
            .max((a, b) -> Long.compare(a.ceilingCents(), b.ceilingCents()))
            .map(highest -> next.repriced(highest, RESERVE))
            .orElse(next),
        random);
  }

  public static void main(String[] args) {
    int[] numbers = Arrays.stream(args).mapToInt(Integer::parseInt).toArray();
    Part part = new Part(numbers[5], numbers[6]);
    long[] worlds = {0};
    new SmallWorlds(numbers[0], numbers[1], numbers[2], numbers[3], sizes(numbers[4]), part)
        .inEach(
            new Random(1),
            (world, random) -> {
              worlds[0]++;
              isByTheRulesTwice(world, random);
            });
    System.out.printf(
        "part %d of %d: %d worlds, two ticks each: the auction decides by the rules%n",
        part.part, part.parts, worlds[0]);
  }
}
