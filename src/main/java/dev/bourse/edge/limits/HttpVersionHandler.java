package dev.bourse.edge.limits;

import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;

/**
 * Treats a request of another HTTP version as malformed, behind a connection's decoder. Vert.x
 * would answer 501 itself, without the service's headers and error body.
 */
@Sharable
final class HttpVersionHandler extends ChannelInboundHandlerAdapter {
  static final HttpVersionHandler INSTANCE = new HttpVersionHandler();

  private HttpVersionHandler() {}

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpRequest request
        && request.decoderResult().isSuccess()
        && !isSpoken(request.protocolVersion())) {
      request.setDecoderResult(
          DecoderResult.failure(
              new IllegalArgumentException("not spoken: " + request.protocolVersion())));
    }
    context.fireChannelRead(message);
  }

  /**
   * The decoder returns these two instances; Vert.x does not recognize a version that is only equal
   * to them, for example {@code http/1.1}.
   */
  @SuppressWarnings("ReferenceEquality")
  private static boolean isSpoken(HttpVersion version) {
    return version == HttpVersion.HTTP_1_1 || version == HttpVersion.HTTP_1_0;
  }
}
