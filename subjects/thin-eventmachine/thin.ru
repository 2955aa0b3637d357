require_relative 'app_on_thin'

use Rack::ContentLength

run AppOnThin.new
