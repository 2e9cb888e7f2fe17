package dev.bourse.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.access.TokenLimits;
import dev.bourse.billing.Month;
import dev.bourse.billing.SpendLimitService;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.DirectChange;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.SelfService;
import dev.bourse.core.Page;
import dev.bourse.org.Colleague;
import dev.bourse.org.JoinRule;
import dev.bourse.org.JoinRuleService;
import dev.bourse.org.Member;
import dev.bourse.pools.PoolPrices;
import dev.bourse.signin.ConnectedApplications;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The exact text of the console's answers, with a distinct value in each member, so that values
 * that change places are found. A member that is added to a contract is added here as well; a
 * change of the recorded text changes the interface.
 */
@Tag("fast")
class RecordedConsoleTest {
  private static final long T0 = 1_700_000_000_000L;

  private static final Member MEMBER =
      new Member("acme", "alice", "a@acme.example", "Alice é", T0 + 1, T0 + 2, T0 + 3);

  @Test
  void invitationsAndTheEffectOfARule() {
    JoinRule rule =
        new JoinRule(
            "jr_4bv5dgA9pFVg",
            "acme",
            JoinRule.Kind.EMAIL,
            "erin@partner.example",
            T0 + 1,
            "member:bob",
            T0 + 2,
            null,
            null);
    assertEquals(
        """
        {"invitations":[{"rule_id":"jr_4bv5dgA9pFVg","email":"erin@partner.example",\
        "created_at":"2023-11-14T22:13:20.001Z","created_by":"member:bob",\
        "link_expires_at":"2023-11-14T22:13:20.002Z"}]}\
        """,
        JoinRuleRoutes.invitations(List.of(rule)).toBuffer().toString());
    assertEquals(
        """
        {"members":[{"username":"alice","email":"a@acme.example","name":"Alice é"}],\
        "kind":"domain","value":"acme.example","exists":true,"member_count":3,\
        "invited":["f@acme.example"],"removed_count":4}\
        """,
        JoinRuleRoutes.toJson(
                new JoinRuleService.Preview(
                    JoinRule.Kind.DOMAIN,
                    "acme.example",
                    true,
                    List.of(MEMBER),
                    3,
                    List.of("f@acme.example"),
                    4))
            .toBuffer()
            .toString());
  }

  @Test
  void members() {
    Colleague colleague =
        new Colleague("alice", "a@acme.example", "Alice é", true, T0 + 1, T0 + 2, 5);
    assertEquals(
        """
        {"members":[{"username":"alice","email":"a@acme.example","name":"Alice é",\
        "suspended":true,"created_at":"2023-11-14T22:13:20.001Z",\
        "last_login_at":"2023-11-14T22:13:20.002Z","live_tokens":5}],"more":true,\
        "next":"alice"}\
        """,
        MemberRoutes.toJson(new Page<>(List.of(colleague), true)).toBuffer().toString());
  }

  @Test
  void clusters() {
    Cluster cluster =
        DirectChange.hold(new Hold(Hold.Stage.GRACE, "unpaid", null))
            .apply(Sample.provisioning(2), T0)
            .next();
    SelfService.Owned owned = new SelfService.Owned(Sample.views(cluster).get(0), T0 + 5);
    assertEquals(
        """
        {"name":"c1","kind":"vm","pool":"h100","posture":"market","description":null,\
        "held_nodes":2,"created_at":"2023-11-14T22:13:20.005Z","retired_at":null}\
        """,
        ClusterRoutes.toJson(owned).toBuffer().toString());
    assertEquals(
        """
        {"name":"c1","kind":"vm","pool":"h100","posture":"market","description":null,\
        "held_nodes":2,"created_at":"2023-11-14T22:13:20.005Z","retired_at":null,\
        "market":{"wanted_nodes":2,"pending_nodes":0,"preparing_nodes":2,\
        "max_price_per_gpu_hour":2.0,"bid_too_low":false,"capacity_unavailable":null,\
        "billing_hold":{"state":"grace","reason":"unpaid"},"prices":{"pool":"h100",\
        "site":"site-1","clearing_price_per_gpu_hour":null,\
        "admission_price_per_gpu_hour":null,"reserve_price_per_gpu_hour":1.0,\
        "max_price_cap_per_gpu_hour":10.0}}}\
        """,
        ClusterRoutes.listed(owned).toBuffer().toString());
    assertEquals(
        """
        {"name":"c1","kind":"vm","pool":"h100","posture":"market","description":null,\
        "held_nodes":0,"created_at":"2023-11-14T22:13:20.006Z","retired_at":null,\
        "market":{"wanted_nodes":0,"pending_nodes":0,"preparing_nodes":0,\
        "max_price_per_gpu_hour":null,"bid_too_low":false,"capacity_unavailable":null,\
        "billing_hold":null,"prices":{"pool":"h100","site":"site-1",\
        "clearing_price_per_gpu_hour":null,"admission_price_per_gpu_hour":null,\
        "reserve_price_per_gpu_hour":1.0,"max_price_cap_per_gpu_hour":10.0}}}\
        """,
        ClusterRoutes.listed(new SelfService.Owned(Sample.views(Sample.empty()).get(0), T0 + 6))
            .toBuffer()
            .toString());
    assertEquals(
        """
        {"pool":"h100","site":"site-1","clearing_price_per_gpu_hour":1.55,\
        "admission_price_per_gpu_hour":1.6,"reserve_price_per_gpu_hour":1.0,\
        "max_price_cap_per_gpu_hour":10.0,"gpu_vendor":"NVIDIA","gpu_model":"H100",\
        "gpus_per_node":8}\
        """,
        ClusterRoutes.toJson(new PoolPrices(Sample.POOL, 155L, 160L)).toBuffer().toString());
  }

  @Test
  void usageDays() {
    assertEquals(
        """
        {"month":"2023-11","days":[{"day":"2023-11-14","cluster":"c1","gpu_millis":7,\
        "amount_micros":8}]}\
        """,
        SpendingRoutes.toJson(
                Month.at(T0), List.of(new SpendLimitService.Day(T0 - T0 % 86_400_000, "c1", 7, 8)))
            .toBuffer()
            .toString());
  }

  @Test
  void applications() {
    assertEquals(
        """
        {"applications":[{"application_id":"g1","name":"a \\"tool\\"","scopes":["bid:read"],\
        "may":"read bids","created_at":"2023-11-14T22:13:20.001Z",\
        "last_used_at":"2023-11-14T22:13:20.002Z","expires_at":"2023-11-14T22:13:20.003Z",\
        "limits":{"max_gpus":16,"max_price_per_gpu_hour":null,"max_hourly_usd":null,\
        "max_lease":null}}]}\
        """,
        ApplicationRoutes.toJson(
                List.of(
                    new ConnectedApplications.Application(
                        "g1",
                        "a \"tool\"",
                        "read bids",
                        List.of("bid:read"),
                        T0 + 1,
                        T0 + 2,
                        T0 + 3,
                        new TokenLimits(16, null, null, null))))
            .toBuffer()
            .toString());
  }
}
