package dev.bourse.market;

import static dev.bourse.market.PreviewShares.MAX_OWN;
import static dev.bourse.market.PreviewShares.MAX_PREVIEWS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One organization's previews leave room for everybody else's. */
class PreviewSharesTest {
  private final PreviewShares shares = new PreviewShares();
  private final List<Promise<String>> making = new ArrayList<>();

  /** Begins a preview that is being made until its promise is kept. */
  private Future<String> begin(String orgId) {
    return shares.within(
        orgId,
        () -> {
          Promise<String> promise = Promise.promise();
          making.add(promise);
          return promise.future();
        });
  }

  private void fill(String orgId, int count) {
    for (int i = 0; i < count; i++) {
      assertTrue(!begin(orgId).isComplete(), orgId + " gets place " + i);
    }
  }

  private static String refusal(Future<String> preview) {
    assertTrue(preview.failed());
    ApiError error = assertInstanceOf(ApiError.class, preview.cause());
    assertEquals(ErrorCode.OVERLOADED, error.code());
    return String.valueOf(error.detail());
  }

  @Test
  void anOrganizationThatTakesItsShareLeavesTheOthersTheirs() {
    fill("acme", MAX_OWN);

    assertEquals(
        "the organization has 4 previews being made, as many as it may", refusal(begin("acme")));
    fill("globex", MAX_OWN);
  }

  @Test
  void allTogetherHaveSoManyPlaces() {
    for (int i = 0; i < MAX_PREVIEWS / MAX_OWN; i++) {
      fill("org-" + i, MAX_OWN);
    }
    assertEquals("16 previews are being made already", refusal(begin("one-more")));
    making.get(0).complete("");
    fill("one-more", 1);
  }

  @Test
  void aPlaceIsGivenBackHoweverThePreviewEnds() {
    fill("acme", MAX_OWN);
    making.get(0).complete("made");
    making.get(1).fail("not made");
    fill("acme", 2);

    assertTrue(
        shares
            .within(
                "globex",
                () -> {
                  throw new IllegalStateException("at once");
                })
            .failed());
    fill("globex", MAX_OWN);
  }

  @Test
  void aRefusalTakesNoPlace() {
    fill("acme", MAX_OWN);
    refusal(begin("acme"));
    refusal(begin("acme"));
    making.forEach(promise -> promise.complete(""));
    fill("acme", MAX_OWN);
  }
}
