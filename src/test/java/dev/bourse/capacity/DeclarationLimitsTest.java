package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.declared;
import static dev.bourse.capacity.Sample.empty;
import static dev.bourse.capacity.Sample.order;
import static dev.bourse.capacity.Sample.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.TokenLimits;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The limits of a token's declarations. */
@Tag("fast")
class DeclarationLimitsTest {
  private static final long LATER = T0 + 600_000;
  private static final long HOUR = 3_600_000;
  private static final int RUNS = 50_000;

  private static Terms under(TokenLimits limits, long elsewhereCents) {
    return TERMS.under(new DeclarationLimits("t1", null, limits, elsewhereCents));
  }

  private static Terms under(TokenLimits limits) {
    return under(limits, 0);
  }

  private static Capacity.Declare until(int maxGpus, String price, long version, String until) {
    return order(maxGpus, price, version, new JsonObject("{\"until\": " + until + "}"));
  }

  private static String quoted(long millis) {
    return '"' + Times.rfc3339(millis) + '"';
  }

  private static void beyond(String limit, double maximum, Terms terms, Capacity.Declare order) {
    ApiException error =
        refused(ErrorCode.TOKEN_LIMIT, () -> Capacity.declare(empty(), order, terms, LATER));
    assertEquals(limit, error.extras().get("limit"));
    assertEquals(maximum, error.extras().get("maximum"));
    assertTrue(error.detail().contains(limit), error.detail());
  }

  @Test
  void moreGpusThanTheLimitAreRefusedAndAsManyPass() {
    Terms terms = under(new TokenLimits(16, null, null, null));
    beyond("max_gpus", 16, terms, order(24, "2.00", 0));
    assertEquals(16, declaredGpus(Capacity.declare(empty(), order(16, "2.00", 0), terms, LATER)));
  }

  private static int declaredGpus(Transition done) {
    return assertDeclared(done).maxGpus();
  }

  private static Declaration assertDeclared(Transition done) {
    Declaration declared = done.next().declared();
    assertNotNull(declared);
    return declared;
  }

  @Test
  void aCeilingOverTheLimitIsRefused() {
    Terms terms = under(new TokenLimits(null, 200L, null, null));
    beyond("max_price_per_gpu_hour", 2, terms, order(8, "2.01", 0));
    Capacity.declare(empty(), order(8, "2.00", 0), terms, LATER);
  }

  @Test
  void whatOtherClustersMayCostCountsAgainstTheHourlyLimit() {
    TokenLimits limits = new TokenLimits(null, null, 4_800L, null);
    Capacity.declare(empty(), order(24, "2.00", 0), under(limits), LATER);
    beyond("max_hourly_usd", 32, under(limits, 1_600), order(24, "2.00", 0));
    Capacity.declare(empty(), order(16, "2.00", 0), under(limits, 1_600), LATER);
    beyond("max_hourly_usd", 0, under(limits, 9_000), order(8, "1.00", 0));
  }

  @Test
  void aDeclarationMustLapseWithinTheLease() {
    Terms terms = under(new TokenLimits(null, null, null, 8 * HOUR));
    beyond("max_lease", 28_800, terms, order(8, "2.00", 0));
    beyond("max_lease", 28_800, terms, until(8, "2.00", 0, quoted(LATER + 8 * HOUR + 1)));
    ApiException error =
        refused(
            ErrorCode.TOKEN_LIMIT,
            () -> Capacity.declare(empty(), order(8, "2.00", 0), terms, LATER));
    String latest = String.valueOf(error.extras().get("until"));
    assertEquals(Times.rfc3339(LATER + 8 * HOUR), latest);
    Transition done =
        Capacity.declare(empty(), until(8, "2.00", 0, '"' + latest + '"'), terms, LATER);
    assertEquals(LATER + 8 * HOUR, assertDeclared(done).untilMillis());
  }

  @Test
  void noGpusAlwaysPass() {
    Terms terms = under(new TokenLimits(0, 0L, 0L, HOUR), 1_000_000);
    Capacity.declare(empty(), order(0, "9.00", 0), terms, LATER);
    Capacity.declare(declared(32), order(0, "9.00", 1), terms, LATER);
  }

  @Test
  void whatIsBeyondTheLimitsIsLoweredButNotMadeLonger() {
    TokenLimits limits = new TokenLimits(8, 100L, 100L, HOUR);
    Cluster standing =
        Capacity.declare(empty(), until(32, "2.00", 0, quoted(LATER + 9 * HOUR)), TERMS, T0).next();
    Terms terms = under(limits, 5_000);
    Capacity.declare(standing, order(24, "2.00", 1), terms, LATER);
    Capacity.declare(standing, order(32, "1.50", 1), terms, LATER);
    Capacity.declare(standing, order(32, "2.00", 1), terms, LATER);
    Capacity.declare(standing, until(32, "2.00", 1, quoted(LATER + 8 * HOUR)), terms, LATER);
    for (Capacity.Declare raise :
        new Capacity.Declare[] {
          order(40, "1.00", 1),
          order(8, "2.01", 1),
          until(8, "1.00", 1, quoted(LATER + 10 * HOUR)),
          until(8, "1.00", 1, "null")
        }) {
      refused(ErrorCode.TOKEN_LIMIT, () -> Capacity.declare(standing, raise, terms, LATER));
    }
  }

  @Test
  void aBudgetThatIsRaisedOrSetAnewIsARaise() {
    Conditions.Budget budget = new Conditions.Budget(100, T0);
    Declaration standing = budget(Declaration.of(8, 200, T0, "a"), budget);
    assertTrue(DeclarationLimits.isRaise(standing, budget(standing, null)));
    assertTrue(
        DeclarationLimits.isRaise(standing, budget(standing, new Conditions.Budget(101, T0))));
    assertTrue(
        DeclarationLimits.isRaise(standing, budget(standing, new Conditions.Budget(100, T0 + 1))));
    assertTrue(
        !DeclarationLimits.isRaise(standing, budget(standing, new Conditions.Budget(99, T0))));
    assertTrue(!DeclarationLimits.isRaise(budget(standing, null), standing));
  }

  private static Declaration budget(Declaration base, Conditions.@Nullable Budget budget) {
    return base.with(d -> d.conditions = d.conditions.with(c -> c.budget = budget));
  }

  @Test
  void theCadenceIsStillTheLastToRefuse() {
    Terms terms = under(new TokenLimits(16, null, null, null));
    Cluster written = declared(8);
    refused(
        ErrorCode.TOKEN_LIMIT,
        () -> Capacity.declare(written, order(24, "2.00", 1), terms, T0 + 1));
    refused(
        ErrorCode.RATE_LIMITED,
        () -> Capacity.declare(written, order(16, "2.00", 1), terms, T0 + 1));
  }

  @Test
  void onlyARaiseUnderAnHourlyLimitIsJudgedAgainWhenItIsStored() {
    Terms terms = under(new TokenLimits(null, null, 10_000L, null));
    assertNotNull(Capacity.declare(empty(), order(8, "2.00", 0), terms, LATER).hourlyLimit());
    assertNull(Capacity.declare(declared(16), order(8, "2.00", 1), terms, LATER).hourlyLimit());
    assertNull(Capacity.declare(empty(), order(8, "2.00", 0), TERMS, LATER).hourlyLimit());
  }

  @Test
  void theConsentOfAnApplicationIsKeptWithItsDeclaration() {
    Terms terms = TERMS.under(new DeclarationLimits("", "grt_1", TokenLimits.NONE, 0));
    Declaration declared =
        assertDeclared(Capacity.declare(empty(), order(8, "2.00", 0), terms, LATER));
    assertEquals("grt_1", declared.write().grantId());
    DeclarationLimits of = new DeclarationLimits("", "grt_1", TokenLimits.NONE, 0);
    assertTrue(of.wrote(Sample.ACTOR, declared));
    assertTrue(!of.wrote("member:bob", declared));
    assertTrue(
        !new DeclarationLimits("", "grt_2", TokenLimits.NONE, 0).wrote(Sample.ACTOR, declared));
  }

  /** Accepted are exactly the writes that raise nothing and the writes within all limits. */
  @Test
  void whatIsAcceptedIsWithinTheLimitsOrNoRaise() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int accepted = 0;
    int refusals = 0;
    for (int i = 0; i < RUNS; i++) {
      TokenLimits limits =
          new TokenLimits(
              random.nextBoolean() ? null : Integer.valueOf(random.nextInt(40)),
              random.nextBoolean() ? null : Long.valueOf(random.nextInt(400)),
              random.nextBoolean() ? null : Long.valueOf(random.nextInt(20_000)),
              random.nextBoolean() ? null : Long.valueOf(1_000L * (1 + random.nextInt(100))));
      long elsewhere = random.nextInt(8_000);
      Declaration standing = random.nextInt(4) == 0 ? null : any(random);
      Declaration next = any(random);
      DeclarationLimits declarationLimits = new DeclarationLimits("t1", null, limits, elsewhere);
      boolean isWithin =
          (limits.maxGpus() == null || next.maxGpus() <= limits.maxGpus())
              && (limits.maxPriceCents() == null || next.ceilingCents() <= limits.maxPriceCents())
              && (limits.maxHourlyCents() == null
                  || next.maxGpus() * next.ceilingCents() + elsewhere <= limits.maxHourlyCents()
                  || next.maxGpus() == 0)
              && (limits.maxLeaseMillis() == null
                  || (next.untilMillis() != null
                      && next.untilMillis() <= T0 + limits.maxLeaseMillis()));
      boolean passes;
      try {
        declarationLimits.require(empty(), standing, next, T0);
        passes = true;
        accepted++;
      } catch (ApiException beyond) {
        passes = false;
        refusals++;
      }
      // A ceiling of 0 costs nothing, so it passes with nothing left.
      if (next.maxGpus() * next.ceilingCents() > 0 || standing == null) {
        assertEquals(
            isWithin || !DeclarationLimits.isRaise(standing, next), passes, "seed " + seed);
      }
    }
    assertTrue(accepted > 1_000 && refusals > 1_000, "seed " + seed);
  }

  private static Declaration any(Random random) {
    return Declaration.of(random.nextInt(5) * 8, 1 + random.nextInt(400), T0, Sample.ACTOR)
        .with(
            d ->
                d.conditions =
                    d.conditions.with(
                        c ->
                            c.untilMillis =
                                random.nextBoolean()
                                    ? null
                                    : Long.valueOf(T0 + 1_000L * random.nextInt(120))));
  }
}
