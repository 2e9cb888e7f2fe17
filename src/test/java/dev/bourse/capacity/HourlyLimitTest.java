package dev.bourse.capacity;

import static dev.bourse.capacity.Sample.T0;
import static dev.bourse.capacity.Sample.TERMS;
import static dev.bourse.capacity.Sample.order;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Scope;
import dev.bourse.access.Token;
import dev.bourse.access.TokenLimits;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The hourly limit of all clusters of a token, for writes decided on stale states. */
class HourlyLimitTest extends StoreFixture {
  private static final String ID = Sample.ACTOR.substring("token:".length());
  private static final int CLUSTERS = 6;

  private CapacityStore store;

  @BeforeEach
  void makeClusters() throws Exception {
    store = new CapacityStore(database, new Random(1));
    await(
        database.commit(
            List.of(
                AccessStore.insert(
                    new Token(
                        ID,
                        "acme",
                        "t",
                        "00",
                        Set.of(Scope.CAPACITY_WRITE),
                        null,
                        "x",
                        T0,
                        null)))));
    for (int i = 0; i < CLUSTERS; i++) {
      await(database.commit(CapacityStore.insert(cluster(i), T0)));
    }
  }

  private static Cluster cluster(int number) {
    return Cluster.created("c" + number, "acme", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET);
  }

  /** Declares with limits that are computed without the token's other clusters. */
  private static Transition blind(int cluster, int maxGpus, String price, long maxCents) {
    DeclarationLimits declarationLimits =
        new DeclarationLimits(ID, null, new TokenLimits(null, null, maxCents, null), 0);
    return Capacity.declare(
        cluster(cluster), order(maxGpus, price, 0), TERMS.under(declarationLimits), T0 + 60_000);
  }

  private Future<Cluster> commit(Transition transition) {
    return store.commit(transition, List.of(), List.of(), T0 + 60_000);
  }

  @Test
  void aWriteThatDidNotSeeTheOtherIsRefusedWhenItIsStored() throws Exception {
    await(commit(blind(0, 8, "2.00", 2_400)));
    ExecutionException failed =
        assertThrows(ExecutionException.class, () -> await(commit(blind(1, 8, "2.00", 2_400))));
    ApiException refusal = assertInstanceOf(ApiException.class, failed.getCause());
    assertEquals(ErrorCode.TOKEN_LIMIT, refusal.code());
    assertEquals(TokenLimits.MAX_HOURLY, refusal.extras().get("limit"));
    assertEquals(List.of(0L), integers("SELECT revision FROM cluster WHERE name = 'c1'"));
    await(commit(blind(1, 8, "1.00", 2_400)));
  }

  @Test
  void whatIsRetiredOrDeclaredBySomebodyElseDoesNotCount() throws Exception {
    await(commit(blind(0, 8, "2.00", 2_400)));
    await(commit(blind(2, 8, "1.00", 2_400)));
    await(
        database.commit(
            List.of(
                dev.bourse.store.Statement.of(
                    "UPDATE cluster SET retired_at = 1 WHERE name = 'c0'"),
                dev.bourse.store.Statement.of(
                    "UPDATE cluster SET declared_by = 'member:bob' WHERE name = 'c2'"))));
    await(commit(blind(1, 8, "3.00", 2_400)));
  }

  @Test
  void ofManyAtOnceNoMoreArePassedThanTheLimitAllows() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    long most = 2_400L + random.nextInt(6_000);
    List<Future<Cluster>> commits = new ArrayList<>();
    for (int i = 0; i < CLUSTERS; i++) {
      commits.add(commit(blind(i, 8, (1 + random.nextInt(3)) + ".00", most)).otherwiseEmpty());
    }
    await(Future.join(commits).otherwiseEmpty());
    long sum = integers("SELECT COALESCE(SUM(max_gpus * ceiling_cents), 0) FROM cluster").get(0);
    assertEquals(true, sum > 0 && sum <= most, "%s of %s, seed %s".formatted(sum, most, seed));
  }
}
