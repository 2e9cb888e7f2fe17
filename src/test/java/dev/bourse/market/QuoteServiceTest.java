package dev.bourse.market;

import static dev.bourse.capacity.Sample.POOL;
import static dev.bourse.capacity.Sample.T0;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Holds;
import dev.bourse.capacity.OperatorCommands;
import dev.bourse.capacity.Shown;
import dev.bourse.capacity.TickPreview;
import dev.bourse.pools.Switches;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class QuoteServiceTest {
  private static final Hold NOTICE = new Hold(Hold.Stage.NOTICE, "balance", null);

  private final Clusters clusters =
      new Clusters(new Switches(true, false, false), Clock.systemUTC());

  private void publish(String org, Cluster.Kind kind, @Nullable Hold hold) {
    Cluster made = Cluster.created(org + "-1", org, POOL.name(), kind, Cluster.Posture.MARKET);
    Shown.publish(clusters, OperatorCommands.billingHold(hold).apply(made, T0).next());
  }

  /** Returns the hold of the organization's hypothetical bid; null for none. */
  private @Nullable Hold holdOfBid(String org) {
    List<@Nullable Hold> tried = new ArrayList<>();
    TickPreview.Source market =
        bid -> {
          tried.add(bid.hold());
          return Future.succeededFuture(
              new TickPreview(0, 0, 1, null, Set.of(), Map.of(), null, null, false, T0));
        };
    Principal caller =
        new Principal(new Organization(org, org, "standard"), "token:t", "t", Set.of(), null, null);
    Holds stored =
        orgId ->
            Future.succeededFuture(
                new Holds.Reading(orgId.startsWith("owing") ? NOTICE : null, List.of()));
    new QuoteService(clusters, stored, market, () -> T0)
        .readMarketQuote(caller, POOL.name(), POOL.gpusPerNode(), new BigDecimal("2.00"))
        .result();
    assertEquals(1, tried.size());
    return tried.get(0);
  }

  @Test
  void aBidIsUnderTheHoldOfAnOrganizationWithClustersOfEitherKind() {
    clusters.put(POOL);
    publish("vms", Cluster.Kind.VM, NOTICE);
    publish("pods", Cluster.Kind.K8S, NOTICE);
    publish("paying", Cluster.Kind.K8S, null);

    assertEquals(NOTICE, holdOfBid("vms"));
    assertEquals(NOTICE, holdOfBid("pods"));
    assertNull(holdOfBid("paying"));
    assertNull(holdOfBid("without-clusters"));
  }

  @Test
  void aBidIsUnderTheHoldOfAnOrganizationWhoseClustersAreAllRetiredOrThatHasNone() {
    clusters.put(POOL);
    publish("owing-once", Cluster.Kind.VM, null);
    assertNull(holdOfBid("owing-once"), "as its cluster stands");
    Shown.publishRetired(clusters, clusters.find("owing-once-1").orElseThrow().cluster());

    assertEquals(NOTICE, holdOfBid("owing-once"));
    assertEquals(NOTICE, holdOfBid("owing-never-had-any"));
  }
}
