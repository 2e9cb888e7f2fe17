package dev.bourse.oauth;

import static dev.bourse.testing.OAuthApplication.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.OAuthApiFixture;
import dev.bourse.testing.OAuthApplication;
import dev.bourse.testing.Polls;
import dev.bourse.testing.ReplayedOnPostgres;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Programs without a browser get tokens. */
@ReplayedOnPostgres
class OAuthDeviceApiTest extends OAuthApiFixture {
  @Test
  void aProgramWithoutABrowserIsLetInByItsCode() {
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    JsonObject begun = begin(program);
    Map<String, String> polling = polling(program, begun);
    refused(program.token(polling), "authorization_pending");
    Polls.until(
        "it is too early",
        () -> program.token(polling),
        answer -> "slow_down".equals(answer.json().getString("error")));
    String code = begun.getString("user_code");
    assertTrue(code.matches("[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}"), code);

    HttpResponse<String> page = program.browse("GET", "/device?user_code=" + code, null, alice);
    assertTrue(page.body().contains(code), page.body());
    // In lower case and without the hyphen, as people type.
    String typed = code.toLowerCase(java.util.Locale.ROOT).replace("-", " ");
    HttpResponse<String> confirm = decide(program, page, typed, "");
    assertTrue(confirm.body().contains("Bourse command line"), confirm.body());
    assertEquals(200, decide(program, confirm, code, "allow").statusCode());
    JsonObject tokens = program.token(polling).ok();
    files(tokens).ok();
    program.token(program.refreshing(tokens)).ok();
  }

  @Test
  void aDeviceCodeIsGoodOnceAndItsSecondUseRevokesWhatItGave() {
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    JsonObject begun = begin(program);
    HttpResponse<String> page = program.browse("GET", "/device", null, alice);
    decide(program, page, begun.getString("user_code"), "allow");
    JsonObject tokens = program.token(polling(program, begun)).ok();
    refused(program.token(polling(program, begun)), "invalid_grant");

    files(tokens).refused(ErrorCode.UNAUTHORIZED);
  }

  @Test
  void aProgramWhoseMemberSaysNoIsTold() {
    OAuthApplication program = OAuthApplication.named(bourse, "bourse-cli");
    JsonObject begun = begin(program);
    HttpResponse<String> page = program.browse("GET", "/device", null, alice);
    decide(program, page, begun.getString("user_code"), "deny");

    refused(program.token(polling(program, begun)), "access_denied");
    assertEquals(422, decide(program, page, begun.getString("user_code"), "allow").statusCode());
  }
}
