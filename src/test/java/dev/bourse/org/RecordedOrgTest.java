package dev.bourse.org;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.access.Token;
import dev.bourse.access.TokenLimits;
import dev.bourse.audit.TrailEntry;
import dev.bourse.core.Page;
import dev.bourse.core.TokenSecret;
import dev.bourse.schemas.common.ApiTokenRevocationJson;
import dev.bourse.schemas.common.PoolPricesJson;
import dev.bourse.schemas.org.OrgTrailJson;
import dev.bourse.schemas.org.ServedVersionJson;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The exact text of the answers on organizations, with a distinct value in each member, so that
 * values that change places are found. A member that is added to a contract is added here as well;
 * a change of the recorded text changes the interface.
 */
@Tag("fast")
class RecordedOrgTest {
  private static final long T0 = 1_700_000_000_000L;

  private static final TokenLimits LIMITS = new TokenLimits(16, 350L, 4_800L, 28_800_000L);

  private static final TokenView TOKEN =
      new TokenView(
          "h7Kd02LmQx9a",
          "a \"job\"",
          List.of("capacity:read", "capacity:write"),
          "acme-train",
          "member:alice",
          T0 + 1,
          T0 + 2,
          T0 + 3,
          T0 + 4,
          LIMITS);

  @Test
  void tokens() {
    TokenView second =
        new TokenView(
            "h7Kd02LmQx9b",
            "n",
            List.of("bid:read"),
            null,
            "operator:ada",
            T0,
            null,
            null,
            null,
            TokenLimits.NONE);
    Token fresh =
        new Token(
            "h7Kd02LmQx9b",
            "acme",
            "n",
            "",
            Set.of(Scope.BID_READ),
            null,
            "operator:ada",
            T0,
            null,
            TokenLimits.NONE);
    assertEquals(
        """
        {"tokens":[{"token_id":"h7Kd02LmQx9a","name":"a \\"job\\"","scopes":["capacity:read",\
        "capacity:write"],"cluster":"acme-train","created_by":"member:alice",\
        "created_at":"2023-11-14T22:13:20.001Z","expires_at":"2023-11-14T22:13:20.002Z",\
        "last_used_at":"2023-11-14T22:13:20.003Z","revoked_at":"2023-11-14T22:13:20.004Z",\
        "limits":{"max_gpus":16,"max_price_per_gpu_hour":3.5,"max_hourly_usd":48.0,\
        "max_lease":"8h"}},{"token_id":"h7Kd02LmQx9b","name":"n","scopes":["bid:read"],\
        "cluster":null,"created_by":"operator:ada","created_at":"2023-11-14T22:13:20.000Z",\
        "expires_at":null,"last_used_at":null,"revoked_at":null,"limits":null}],"more":true,\
        "next":"h7Kd02LmQx9b"}\
        """,
        TokenView.page(new Page<>(List.of(TOKEN, second), true)).toBuffer().toString());
    assertEquals(
        """
        {"token_id":"h7Kd02LmQx9b","name":"n","scopes":["bid:read"],"cluster":null,\
        "created_by":"operator:ada","created_at":"2023-11-14T22:13:20.000Z",\
        "expires_at":null,"last_used_at":null,"revoked_at":null,"limits":null,\
        "token":"brs_h7Kd02LmQx9b_s"}\
        """,
        new TokenService.MintedToken(
                fresh, new TokenSecret(TokenSecret.Kind.ORGANIZATION, "h7Kd02LmQx9b", "s"))
            .toJson()
            .toBuffer()
            .toString());
    assertEquals(
        """
        {"token_id":"h7Kd02LmQx9b","revoked_at":"2023-11-14T22:13:20.000Z"}\
        """,
        new ApiTokenRevocationJson("h7Kd02LmQx9b", T0).toBuffer().toString());
    assertEquals(
        """
        {"tokens":[{"token_id":"h7Kd02LmQx9a","name":"a \\"job\\"","scopes":["capacity:read",\
        "capacity:write"],"cluster":"acme-train","created_by":"member:alice",\
        "created_at":"2023-11-14T22:13:20.001Z","expires_at":"2023-11-14T22:13:20.002Z",\
        "last_used_at":"2023-11-14T22:13:20.003Z","revoked_at":"2023-11-14T22:13:20.004Z",\
        "limits":{"max_gpus":16,"max_price_per_gpu_hour":3.5,"max_hourly_usd":48.0,\
        "max_lease":"8h"}}],"more":false,"next":null}\
        """,
        TokenView.page(new Page<>(List.of(TOKEN), false)).toBuffer().toString());
  }

  private static JoinRule rule(JoinRule.Kind kind, String value, @Nullable Long provenAtMillis) {
    return new JoinRule(
        "jr_4bv5dgA9pFVg",
        "acme",
        kind,
        value,
        T0 + 1,
        "member:bob",
        kind == JoinRule.Kind.EMAIL ? (Long) (T0 + 2) : null,
        provenAtMillis,
        provenAtMillis == null ? null : "operator:ada");
  }

  @Test
  void rules() {
    assertEquals(
        """
        {"rule_id":"jr_4bv5dgA9pFVg","kind":"email","value":"erin@partner.example",\
        "created_at":"2023-11-14T22:13:20.001Z","created_by":"member:bob",\
        "link_expires_at":"2023-11-14T22:13:20.002Z","state":"active","dns_record":null,\
        "proven_at":null,"proven_by":null}\
        """,
        rule(JoinRule.Kind.EMAIL, "erin@partner.example", null).toJson().toBuffer().toString());
    assertEquals(
        """
        {"rule_id":"jr_4bv5dgA9pFVg","kind":"domain","value":"acme.example",\
        "created_at":"2023-11-14T22:13:20.001Z","created_by":"member:bob",\
        "link_expires_at":null,"state":"active","dns_record":{"type":"TXT",\
        "name":"_bourse-challenge.acme.example",\
        "value":"bourse-domain-verification=jr_4bv5dgA9pFVg"},\
        "proven_at":"2023-11-14T22:13:20.003Z","proven_by":"operator:ada"}\
        """,
        rule(JoinRule.Kind.DOMAIN, "acme.example", T0 + 3).toJson().toBuffer().toString());
    assertEquals(
        """
        {"rule_id":"jr_4bv5dgA9pFVg","kind":"domain","value":"acme.example",\
        "created_at":"2023-11-14T22:13:20.001Z","created_by":"member:bob",\
        "link_expires_at":null,"state":"pending","dns_record":{"type":"TXT",\
        "name":"_bourse-challenge.acme.example",\
        "value":"bourse-domain-verification=jr_4bv5dgA9pFVg"},"proven_at":null,\
        "proven_by":null}\
        """,
        rule(JoinRule.Kind.DOMAIN, "acme.example", null).toJson().toBuffer().toString());
  }

  @Test
  void theRoster() {
    Roster roster =
        new Roster(
            List.of(
                new Roster.ShownMember("alice", "a@acme.example", "Alice é", false, T0 + 1),
                new Roster.ShownMember("bob", "", "", true, null)),
            List.of(rule(JoinRule.Kind.DOMAIN, "acme.example", null)),
            List.of(rule(JoinRule.Kind.EMAIL, "erin@partner.example", null)));
    assertEquals(
        """
        {"members":[{"username":"alice","email":"a@acme.example","name":"Alice é",\
        "is_active":false,"last_login":"2023-11-14T22:13:20.001Z","role":"admin"},\
        {"username":"bob","email":"","name":"","is_active":true,"last_login":null,\
        "role":"admin"}],"rules":[{"id":"jr_4bv5dgA9pFVg","kind":"domain",\
        "value":"acme.example","state":"pending"}],"invited":[{"id":"jr_4bv5dgA9pFVg",\
        "email":"erin@partner.example","invited_at":"2023-11-14T22:13:20.001Z",\
        "invited_by":"member:bob","link_expires_at":"2023-11-14T22:13:20.002Z"}]}\
        """,
        roster.toJson().toBuffer().toString());
  }

  @Test
  void trails() {
    Page<TrailEntry> page =
        new Page<>(
            List.of(new TrailEntry(9, T0, "token:a", "vm_capacity_put", "acme-train", "x=\"1\"")),
            true);
    assertEquals(
        """
        {"org_id":"acme","entries":[{"id":9,"ts":"2023-11-14T22:13:20.000Z","actor":"token:a",\
        "action":"vm_capacity_put","subject":"acme-train","detail":"x=\\"1\\""}],"more":true}\
        """,
        new OrgTrailJson(
                "acme", page.items().stream().map(TrailEntry::toJson).toList(), page.more())
            .toBuffer()
            .toString());
  }

  @Test
  void theCaller() {
    Organization acme = new Organization("acme", "Acme \"1\"", "standard");
    Principal token =
        new Principal(
            acme,
            "token:h7Kd02LmQx9a",
            "h7Kd02LmQx9a",
            Set.of(Scope.BID_READ, Scope.BID_WRITE),
            "acme-train",
            T0);
    WhoamiView view =
        new WhoamiView(
            300,
            new ServedVersionJson("1.0", 44),
            cluster ->
                cluster.equals("acme-train")
                    ? Optional.of(new PoolPricesJson("h100", "s", 1.5, null, 1, 10))
                    : Optional.empty());
    List<AddressableCluster> clusters =
        List.of(
            new AddressableCluster("acme-train", "VM", "NVIDIA", "H100"),
            new AddressableCluster("acme-new", "K8S", "AMD", null));
    assertEquals(
        """
        {"org_id":"acme","org_display":"Acme \\"1\\"","org_kind":"standard",\
        "scopes":["bid:read","bid:write"],"expires_at":"2023-11-14T22:13:20.000Z",\
        "clusters":[{"name":"acme-train","kind":"vm","gpu_vendor":"NVIDIA",\
        "gpu_model":"H100","pool":{"pool":"h100","site":"s",\
        "clearing_price_per_gpu_hour":1.5,"admission_price_per_gpu_hour":null,\
        "reserve_price_per_gpu_hour":1.0,"max_price_cap_per_gpu_hour":10.0}},\
        {"name":"acme-new","kind":"k8s","gpu_vendor":"AMD","gpu_model":null,"pool":null}],\
        "rate_limit":{"requests_per_minute":300},"limits":{"max_gpus":16,\
        "max_price_per_gpu_hour":3.5,"max_hourly_usd":48.0,"max_lease":"8h"},\
        "ssh_keys_need_write":false,"service":{"version":"1.0","schema":44},\
        "subject":"token:h7Kd02LmQx9a","token_id":"h7Kd02LmQx9a","cluster":"acme-train"}\
        """,
        view.toJson(token, clusters, LIMITS).toBuffer().toString());
    Principal member =
        new Principal(
            acme,
            "member:alice",
            "",
            Set.of(),
            null,
            null,
            "alice",
            "m1",
            Principal.CredentialKind.SESSION);
    assertEquals(
        """
        {"org_id":"acme","org_display":"Acme \\"1\\"","org_kind":"standard","scopes":[],\
        "expires_at":null,"clusters":[],"rate_limit":{"requests_per_minute":300},\
        "limits":null,"ssh_keys_need_write":false,"service":{"version":"1.0","schema":44},\
        "subject":"member:alice","token_id":null,"cluster":null,"username":"alice"}\
        """,
        view.toJson(member, List.of(), TokenLimits.NONE).toBuffer().toString());
  }
}
