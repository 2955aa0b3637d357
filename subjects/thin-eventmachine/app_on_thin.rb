# dyno's subject for Thin: Unicorn's Rack application, whose waits hold up no other request.

require_relative 'app'

class AppOnThin < App
  private

  # Thin sends the answer when its callback is called.
  def delay(env, text)
    answer = [200, TEXT.merge('Content-Length' => text.bytesize.to_s), [text]]
    EventMachine.add_timer(text.to_i / 1000.0) { env['async.callback'].call(answer) }
    throw :async
  end
end
