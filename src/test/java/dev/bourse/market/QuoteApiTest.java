package dev.bourse.market;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.MarketApiFixture;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Quotes of bids that no cluster has declared. */
@ReplayedOnPostgres
class QuoteApiTest extends MarketApiFixture {
  private static final int GPUS = 8;

  private static HttpAnswer quote(ApiClient caller, TestMarket market, long gpus, String price) {
    return caller.get(
        "/api/market/quote?pool=" + market.name() + "&gpus=" + gpus + "&price=" + price);
  }

  @Test
  void aBidAloneWinsAtTheReserveAndLeavesTheRest() {
    TestMarket market = bourse.market();
    untilCleared(market);

    JsonObject quote = quote(market.blue("bare"), market, GPUS, "5").ok();

    assertEquals(1, quote.getInteger("nodes_won"));
    assertEquals(1, quote.getInteger("nodes_granted"));
    assertEquals(0, quote.getInteger("nodes_unfilled"));
    assertEquals(TestMarket.NODES - 1, quote.getInteger("nodes_left"));
    assertEquals(1.0, quote.getDouble("clearing_price_per_gpu_hour"));
    assertEquals(8.0, quote.getDouble("cost_per_hour"));
    assertNull(quote.getValue("rival_price_per_gpu_hour"));
  }

  @Test
  void aRivalsNodesAreLeftToItWhileTheyAreProtected() {
    TestMarket market = bourse.market();
    market.redA().hold(3, 4);
    until("red's bid is known", () -> rival(market) != null);

    JsonObject quote = quote(market.blue("bare"), market, GPUS * TestMarket.NODES, "5").ok();

    assertEquals(TestMarket.NODES - 3, quote.getInteger("nodes_won"));
    assertEquals(3, quote.getInteger("nodes_unfilled"));
    assertEquals(0, quote.getInteger("nodes_left"));
    assertEquals(3.92, quote.getDouble("rival_price_per_gpu_hour"));
  }

  private static Object rival(TestMarket market) {
    return quote(market.blue("bare"), market, GPUS, "5").ok().getValue("rival_price_per_gpu_hour");
  }

  @Test
  void whatIsQuotedIsWhatADeclarationWins() {
    TestMarket market = bourse.market();
    market.redA().hold(2, 4);
    until("red's bid is known", () -> Objects.equals(rival(market), 3.92));
    JsonObject quote = quote(market.blue("bare"), market, 2 * GPUS, "2.25").ok();

    market.blueA().hold(quote.getInteger("nodes_won"), 2.25);

    until(
        "the price is the one quoted",
        () ->
            Objects.equals(
                quote(market).getValue("clearing_price_per_gpu_hour"),
                quote.getValue("clearing_price_per_gpu_hour")));
    assertEquals(2, market.blueA().active().size());
  }

  @Test
  void aPriceUnderTheReserveWinsNothing() {
    TestMarket market = bourse.market();
    untilCleared(market);

    JsonObject quote = quote(market.blue("bare"), market, GPUS, "0.5").ok();

    assertEquals(0, quote.getInteger("nodes_won"));
    assertEquals(1, quote.getInteger("nodes_unfilled"));
    assertEquals(0.0, quote.getDouble("cost_per_hour"));
    assertEquals(1.0, quote.getDouble("admission_price_per_gpu_hour"));
  }

  /** Returns a caller of an organization that wins a node until it is put on hold. */
  private static ApiClient quotingUntilItIsHeld(ApiClient operator, String org, TestMarket market) {
    JsonObject token =
        created(
            operator,
            "/api/operator/orgs/" + org + "/tokens",
            new JsonObject().put("name", "t").put("scopes", new JsonArray()));
    ApiClient caller = bourse.with(token.getString("token"));
    assertEquals(1, quote(caller, market, GPUS, "5").ok().getInteger("nodes_won"));
    operator
        .put(
            "/api/operator/orgs/" + org + "/hold",
            new JsonObject().put("stage", "notice").put("reason", "stolen card"))
        .ok();
    return caller;
  }

  @Test
  void aHeldOrganizationWithOnlyAKubernetesClusterWinsNothing() {
    TestMarket market = bourse.market();
    untilCleared(market);
    String org = market.name() + "-pods";
    ApiClient operator = bourse.operator();
    created(operator, "/api/operator/orgs", OrgApiFixture.org(org));
    created(
        operator,
        "/api/operator/clusters",
        new JsonObject()
            .put("name", org)
            .put("org", org)
            .put("pool", market.name())
            .put("kind", "k8s"));
    ApiClient caller = quotingUntilItIsHeld(operator, org, market);

    JsonObject held = quote(caller, market, GPUS, "5").ok();
    assertEquals(0, held.getInteger("nodes_won"));
    assertEquals(1, held.getInteger("nodes_unfilled"));
  }

  @Test
  void aHeldOrganizationWithoutClustersWinsNothing() {
    TestMarket market = bourse.market();
    untilCleared(market);
    String org = market.name() + "-empty";
    ApiClient operator = bourse.operator();
    created(operator, "/api/operator/orgs", OrgApiFixture.org(org));
    ApiClient caller = quotingUntilItIsHeld(operator, org, market);

    assertEquals(0, quote(caller, market, GPUS, "5").ok().getInteger("nodes_won"));
  }

  private static JsonObject created(ApiClient operator, String path, JsonObject order) {
    HttpAnswer answer = operator.post(path, order);
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  @Test
  void aQuoteIsRefusedAsADeclarationIs() {
    TestMarket market = bourse.market();
    ApiClient caller = market.blue("bare");

    assertEquals(
        "gpus: 12 is not acceptable; expected a multiple of gpus_per_node, which is 8, up to 1000000",
        quote(caller, market, 12, "2").refused(ErrorCode.BAD_REQUEST).getString("detail"));
    quote(caller, market, 0, "2").refused(ErrorCode.BAD_REQUEST);
    quote(caller, market, 8, "-1").refused(ErrorCode.BAD_REQUEST);
    quote(caller, market, 8, "2.005").refused(ErrorCode.PRICE_PRECISION);
    assertEquals(
        10.0,
        quote(caller, market, 8, "10.01")
            .refused(ErrorCode.PRICE_ABOVE_MAXIMUM)
            .getDouble("maximum"));
    caller.get("/api/market/quote?pool=nowhere&gpus=8&price=2").refused(ErrorCode.NOT_FOUND);
    caller.get("/api/market/quote?pool=" + market.name()).refused(ErrorCode.BAD_REQUEST);
  }
}
